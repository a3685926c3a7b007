"""How parameters, data set files and the command line become one configuration."""

import os
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from kedro.config import MissingConfigException, OmegaConfigLoader
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from figure_kedro.errors import UserError, nearest
from figure_kedro.parameters import Parameters, check_parameters

SUPERVISED_REPRESENTATION = {"method": "features", "embeddings": "never", "tuning": {"enabled": False}}
"""A supervised network learns from the features as they are: there is nothing to train or to store before it."""


class ProjectConfigLoader(OmegaConfigLoader):
    """Kedro's loader, with one file a data set and one a method.

    ``conf/<environment>/datasets/cora.yml`` holds ``cora:`` and below it whatever differs from the parameters for
    that data set, in the same shape; ``conf/<environment>/methods/dgi.yml`` does so for ``representation.method=dgi``.
    Below ``dimensions: {512: ...}`` a data set's file says what differs for embeddings of that dimension alone. What
    stands later wins: parameters, the method's file, the data set's file, its part for the dimension, ``--params``.

    Catalog files can use ``${setting:dataset}``, the value of any parameter, and ``${run_key:data_processing}``, a
    short name for all settings that decide the results of that pipeline. A path with its run key in it is never
    shared by two runs with different settings. ``${tracking_uri:}`` and ``${artefact_uri:}`` are where MLflow keeps
    its records: a SQLite file in the data folder, unless ``MLFLOW_TRACKING_URI`` says otherwise.
    """

    _own_tracking_uris: ClassVar[set[str]] = set()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for kind in ("datasets", "methods"):
            self.config_patterns.setdefault(kind, [f"{kind}/*"])

    def __getitem__(self, key: str) -> dict[str, Any]:
        self._register_resolvers()
        if key == "parameters" and key not in self.data:
            return self._merged_parameters
        return super().__getitem__(key)

    @cached_property
    def parameters(self) -> Parameters:
        """The merged parameters, checked."""
        return check_parameters(self["parameters"])

    @cached_property
    def _merged_parameters(self) -> dict[str, Any]:
        try:
            parameters = super().__getitem__("parameters")  # --params are on top already
            datasets = self._files("datasets")
            name = str(parameters.get("dataset"))
            if name not in datasets:
                raise UserError(f"there is no data set {name!r}; {nearest(name, datasets)}")
            dataset = _parameters_below(name, datasets)
            runtime = OmegaConf.create(self.runtime_params or {})
            dimensions = _parameters_below("dimensions", dataset)
            dataset = {group: values for group, values in dataset.items() if group != "dimensions"}
            merged = OmegaConf.merge(parameters, dataset, runtime, {"dataset": name})
            method, dim = (OmegaConf.select(merged, f"representation.{setting}") for setting in ("method", "dim"))
            method_file = _parameters_below(str(method), self._files("methods"))
            supervised = OmegaConf.select(merged, "evaluation.supervised") not in (None, "none")
            if not supervised:  # a network that is trained on labels has no embeddings
                dataset = OmegaConf.merge(dataset, _parameters_below(dim, dimensions))
            merged = OmegaConf.merge(parameters, method_file, dataset, runtime, {"dataset": name})
            if supervised:
                if OmegaConf.select(runtime, "representation.method") is not None:
                    raise UserError("evaluation.supervised learns from the features; leave representation.method out")
                merged = OmegaConf.merge(merged, {"representation": SUPERVISED_REPRESENTATION})
            return OmegaConf.to_container(merged, resolve=True)
        except (OmegaConfBaseException, YAMLError) as error:
            raise UserError(f"the configuration cannot be read: {' '.join(str(error).split())}") from error

    def _files(self, kind: str) -> dict[str, Any]:
        try:
            return super().__getitem__(kind)
        except MissingConfigException:
            return {}

    def _register_resolvers(self) -> None:
        """Make the resolvers speak for this loader: OmegaConf keeps one of each name for the whole process."""
        resolvers = {
            "setting": self._setting,
            "run_key": self._run_key,
            "tracking_uri": self._tracking_uri,
            "artefact_uri": self._artefact_uri,
        }
        for name, resolver in resolvers.items():
            OmegaConf.register_new_resolver(name, resolver, replace=True)

    def _setting(self, path: str) -> Any:
        value: Any = self.parameters
        for part in path.split("."):
            value = getattr(value, part)
        return value.model_dump(mode="json") if hasattr(value, "model_dump") else value

    def _run_key(self, stage: str) -> str:
        return self.parameters.key(stage)

    def own_database(self) -> Path | None:
        """Where MLflow's SQLite file is; none if ``MLFLOW_TRACKING_URI`` says that its records are elsewhere."""
        return None if self._given_tracking_uri() else self._mlflow_folder() / "mlflow.db"

    def _tracking_uri(self) -> str:
        database = self.own_database()
        if database is None:
            return self._given_tracking_uri()
        uri = f"sqlite:///{database}"
        self._own_tracking_uris.add(uri)
        return uri

    def _artefact_uri(self) -> str | None:
        # a tracking server decides for itself where artefacts go
        return None if self._given_tracking_uri() else (self._mlflow_folder() / "artifacts").as_uri()

    def _given_tracking_uri(self) -> str | None:
        # MLflow sets the variable to whatever a run uses; the next run of the same process must not take it for given
        uri = os.environ.get("MLFLOW_TRACKING_URI")
        return None if uri in self._own_tracking_uris else uri

    def _mlflow_folder(self) -> Path:
        folder = Path(self.conf_source).resolve().parent / self.parameters.data_folder / "mlflow"
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def _parameters_below(name: str | int, groups: dict[str | int, Any]) -> dict[str, Any]:
    different = groups.get(name) or {}
    if not isinstance(different, dict):
        raise UserError(f"the configuration of {name!r} must hold parameters below its name, not {different!r}")
    return different
