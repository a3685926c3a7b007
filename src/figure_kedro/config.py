"""How parameters, data set files and the command line become one configuration."""

import os
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from kedro.config import MissingConfigException, OmegaConfigLoader
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from figure_kedro.datasets.files.data_folder import is_address, local_folder
from figure_kedro.errors import UserError, nearest
from figure_kedro.time_limit import at_most

if TYPE_CHECKING:
    from figure_kedro.parameters import Parameters

# The parts of the project, and torch behind them, are imported when parameters are asked for: Kedro reads this module
# for every command, also for those that need none of them.

READING_SECONDS = 15.0
"""Of computing, for reading the configuration; it takes less than one."""

OWN_DATABASES = "FIGURE_OWN_DATABASES"
"""The environment variable with MLflow's databases that runs of this process have used by themselves.

MLflow writes the one in use to ``MLFLOW_TRACKING_URI``, where it looks like a user's wish. Kedro forgets this package's
modules when it reloads a project in a notebook, and with them whatever they hold; the environment stays.
"""

T = TypeVar("T")

FEATURES_ALONE = {"method": "features", "embeddings": "never"}
"""The representation of a head that reads the graph: there is nothing to learn or to keep before it."""


class ProjectConfigLoader(OmegaConfigLoader):
    """Kedro's loader, with one file for each data set and each method.

    ``conf/<environment>/datasets/cora.yml`` holds ``cora:`` and below it whatever differs from the parameters for
    that data set, in the same shape; ``conf/<environment>/methods/dgi.yml`` does so for ``representation.method=dgi``.
    Below ``protocols: {paper: ...}`` a data set's file says what differs under that protocol alone, below
    ``methods: {figure: ...}`` for that method, below ``dimensions: {512: ...}`` for embeddings of that dimension; a
    protocol may have methods and dimensions of its own. What stands later wins: parameters, the method's file, the data
    set's file, its parts for the protocol, the method and the dimension, ``--params``.
    What a file says about settings that the chosen part (method, map, head, ...) does not have is left aside; on the
    command line that is a mistake.

    Catalog files can use ``${setting:dataset}``, the value of any parameter, and ``${run_key:representation}``, a
    short name for all that decides the results of that stage. A path with its run key in it is never shared by two
    runs with different results. ``${run_name:}`` says the method and its dimension. ``${tracking_uri:}`` and
    ``${artefact_uri:}`` are where MLflow keeps its records: a SQLite file in the data folder, unless
    ``MLFLOW_TRACKING_URI`` says otherwise. ``${command:}`` is what to type for this run.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not (Path(self.conf_source) / self.default_run_env).is_dir():
            self.default_run_env = self.base_env  # nobody has settings of their own; Kedro would read none at all
        self._read: dict[str, dict[str, Any]] = {}
        for kind in ("datasets", "methods", "experiments"):
            self.config_patterns.setdefault(kind, [f"{kind}/*"])

    def with_params(self, given: dict[str, Any]) -> "ProjectConfigLoader":
        """The same configuration with other ``--params``; files are read once for all of them."""
        other = ProjectConfigLoader(
            self.conf_source,
            env=self.env,
            runtime_params=given,
            config_patterns=self.config_patterns,
            base_env=self.base_env,
            default_run_env=self.default_run_env,
            merge_strategy=self.merge_strategy,
        )
        other._read = self._read
        for kind in ("parameters", "datasets", "methods"):
            self._files(kind)
        return other

    def __getitem__(self, key: str) -> dict[str, Any]:
        self._register_resolvers()
        if key == "parameters" and key not in self.data:
            return dict(self.parameters)  # every group as the checked settings of its part
        return self._readable(lambda: super(ProjectConfigLoader, self).__getitem__(key))

    @cached_property
    def parameters(self) -> "Parameters":
        """The merged parameters, checked."""
        from figure_kedro.parameters import check_parameters

        return self._readable(lambda: check_parameters(self._merged()))

    @staticmethod
    def _readable(read: Callable[[], T]) -> T:
        """Read something of the configuration; whatever is wrong with a file is one line, also one without an end."""
        endless = "reading the configuration does not come to an end; look for ${...} or YAML aliases that multiply"
        try:
            with at_most(READING_SECONDS, endless):
                return read()
        except UserError:
            raise
        except (OmegaConfBaseException, YAMLError, RecursionError, ValueError) as error:
            raise UserError(f"the configuration cannot be read: {' '.join(str(error).split())[:300]}") from error

    def _merged(self) -> dict[str, Any]:
        from figure_kedro.evaluation import HEADS

        given = _resolved(self.runtime_params or {}, self._files("parameters"))
        parameters, datasets = _merge(self._files("parameters"), given), self._files("datasets")
        name = str(parameters.get("dataset"))
        if name not in datasets:
            raise UserError(f"there is no data set {name!r}; {nearest(name, datasets)}")
        dataset = _parameters_below(name, datasets)
        protocol = str(parameters.get("protocol", "best"))
        known = {"best", "paper"}.union(*(_names_below("protocols", groups) for groups in datasets.values()))
        if protocol not in known:
            raise UserError(f"there is no protocol {protocol!r}; {nearest(protocol, sorted(known))}")
        layers = [dataset, _parameters_below(protocol, _parameters_below("protocols", dataset))]
        merged = _merge(parameters, *map(_for_all, layers), given)
        method = str(_chosen(merged, "representation"))
        files = [parameters, _parameters_below(method, self._files("methods"))]
        files += [_for_all(layer) for layer in layers]
        files += [_parameters_below(method, _parameters_below("methods", layer)) for layer in layers]
        if HEADS[str(_chosen(merged, "evaluation"))].reads == "graph":  # there are no embeddings of any dimension
            if _below(given, "representation", "method") is not None:
                raise UserError(
                    "this evaluation.head learns from the features end to end; leave representation.method out"
                )
            files.append({"representation": FEATURES_ALONE})
        else:
            dimension = _below(merged, "representation", "dim")
            files += [_parameters_below(dimension, _parameters_below("dimensions", layer)) for layer in layers]
        return _only_chosen(_merge(*files), given) | {"dataset": name}

    def _files(self, kind: str) -> dict[str, Any]:
        """What the files of a kind say, with ``--params`` on top of parameters where these are not read yet."""
        if kind not in self._read:
            try:
                self._read[kind] = self._readable(lambda: super(ProjectConfigLoader, self).__getitem__(kind))
            except MissingConfigException:
                self._read[kind] = {}
        return self._read[kind]

    def _register_resolvers(self) -> None:
        """Make the resolvers speak for this loader: OmegaConf keeps one of each name for the whole process."""
        resolvers: dict[str, Callable[..., Any]] = {
            "setting": self._setting,
            "run_key": self._run_key,
            "run_name": self._run_name,
            "tracking_uri": self._tracking_uri,
            "artefact_uri": self._artefact_uri,
            "command": self._command,
        }
        for name, resolver in resolvers.items():
            OmegaConf.register_new_resolver(name, resolver, replace=True)

    def _setting(self, path: str) -> Any:
        if path == "data_folder" and is_address(self.parameters.data_folder):
            return str(self._data_folder())
        value: Any = self.parameters
        for part in path.split("."):
            value = getattr(value, part)
        return value.model_dump(mode="json") if hasattr(value, "model_dump") else value

    def _run_key(self, stage: str) -> str:
        return self.parameters.key(stage)

    def _run_name(self) -> str:
        from figure_kedro.tracking.words import run_words

        return "-".join(run_words(self.parameters))

    def _command(self) -> str:
        from figure_kedro.tracking.words import command_line

        return command_line([], self.runtime_params or {}, [f"--env={self.env}"] if self.env else [])

    def own_database(self) -> Path | None:
        """Where MLflow's SQLite file is; none if ``MLFLOW_TRACKING_URI`` says that its records are elsewhere."""
        return None if self._given_tracking_uri() else self._mlflow_folder() / "mlflow.db"

    def tracking(self) -> tuple[str, str | None]:
        """Where MLflow keeps its records and its artefacts; ``None`` if a server decides on the latter."""
        return self._tracking_uri(), self._artefact_uri()

    def _tracking_uri(self) -> str:
        given, database = self._given_tracking_uri(), self.own_database()
        if given or database is None:
            return given or ""
        database.parent.mkdir(parents=True, exist_ok=True)
        uri = f"sqlite:///{database}"
        os.environ[OWN_DATABASES] = "\n".join(sorted({uri, *_own_databases()}))
        return uri

    def _artefact_uri(self) -> str | None:
        # a tracking server decides for itself where artefacts go
        return None if self._given_tracking_uri() else (self._mlflow_folder() / "artifacts").as_uri()

    def _given_tracking_uri(self) -> str | None:
        # MLflow sets the variable to whatever a run uses; the next run of the same process must not take it for given
        uri = os.environ.get("MLFLOW_TRACKING_URI")
        return None if uri in _own_databases() else uri

    def locks(self) -> Path:
        """Where the locks of everything below the data folder are."""
        return self._data_folder() / "locks"

    def _data_folder(self) -> Path:
        return local_folder(Path(self.conf_source).resolve().parent, self.parameters.data_folder)

    def _mlflow_folder(self) -> Path:
        return self._data_folder() / "mlflow"


def _own_databases() -> list[str]:
    return os.environ.get(OWN_DATABASES, "").splitlines()


def _parameters_below(name: Any, groups: Mapping[Any, Any]) -> dict[str, Any]:
    different = groups.get(name) or {}
    if not isinstance(different, dict):
        raise UserError(f"the configuration of {name!r} must hold parameters below its name, not {different!r}")
    return different


def _names_below(name: str, groups: Any) -> set[str]:
    below = groups.get(name) if isinstance(groups, dict) else None
    return {str(name) for name in below} if isinstance(below, dict) else set()


def _for_all(layer: dict[str, Any]) -> dict[str, Any]:
    """What a data set's file says for every protocol, method and dimension."""
    return {group: values for group, values in layer.items() if group not in ("protocols", "methods", "dimensions")}


def _chosen(merged: Mapping[str, Any], group: str) -> Any:
    """The name of the part that a group chooses."""
    from figure_kedro.parameters import KINDS

    chosen = _below(merged, group, KINDS[group].tag)
    return KINDS[group].default if chosen is None else chosen


def _below(groups: Mapping[str, Any], group: str, name: str) -> Any:
    values = groups.get(group)
    return values.get(name) if isinstance(values, Mapping) else None


def _only_chosen(files: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """What files say about the chosen parts, with the command line on top."""
    from figure_kedro.parameters import KINDS

    whole, settings = _merge(files, given), dict(files)
    for group, kind in KINDS.items():
        values = settings.get(group)
        if isinstance(values, dict) and isinstance(whole.get(group), dict):
            name = whole[group].get(kind.tag, kind.default)
            if name in kind.names():  # an unknown one is told when all is checked
                settings[group] = kind.only_chosen({**values, kind.tag: name})
    return _merge(settings, given)


def _merge(*layers: Mapping[Any, Any]) -> dict[Any, Any]:
    """Groups of settings one above another; what stands later wins. OmegaConf does the same and takes 20 times as long,
    which counts where an experiment has hundreds of cells; nothing is left for it to resolve in what Kedro has read.

    >>> _merge({"a": {"x": 1, "y": 2}}, {"a": {"y": 3}}, {"b": None})
    {'a': {'x': 1, 'y': 3}, 'b': None}
    """
    merged: dict[Any, Any] = {}
    for layer in layers:
        for name, value in layer.items():
            below = merged.get(name)
            if isinstance(value, Mapping):
                value = _merge(below if isinstance(below, dict) else {}, value)
            merged[name] = value
    return merged


def _resolved(given: Mapping[str, Any], parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """What ``--params`` say, with their ``${...}`` filled in."""
    if "${" not in str(given):
        return given
    whole = OmegaConf.to_container(OmegaConf.merge(parameters, given), resolve=True)
    return cast(Mapping[str, Any], _of_these(given, whole))


def _of_these(names: Any, values: Any) -> Any:
    return {name: _of_these(names[name], values[name]) for name in names} if isinstance(names, Mapping) else values
