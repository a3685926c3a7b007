"""What a run will take, said before it starts, and refused if the disk is too small."""

import logging
import shutil
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from figure_kedro.cost import EPOCHS, Work, full_step_bytes, stage_costs, total
from figure_kedro.datasets.files.data_folder import local_folder
from figure_kedro.datasets.files.scratch import memory_of_run
from figure_kedro.datasets.sources import SOURCES
from figure_kedro.datasets.sources.source import GraphSize
from figure_kedro.embeddings import STORED_NUMBERS
from figure_kedro.errors import UserError
from figure_kedro.evaluation import HEADS
from figure_kedro.execution import make_executor, set_executor
from figure_kedro.features import FeatureSettings
from figure_kedro.features.kinds.svd import SpectralSettings
from figure_kedro.filters import BANKS
from figure_kedro.graph import Graph, Targets
from figure_kedro.memory import FREE_SHARE, GIB, Memory, free_memory, memory, set_memory
from figure_kedro.methods.encoder import EncoderSettings
from figure_kedro.methods.filter_order import is_pair_filter_first
from figure_kedro.methods.kinds.figure import FigureSettings
from figure_kedro.parameters import Parameters

logger = logging.getLogger(__name__)

MODELLED = ("figure", "untrained", "propagation")
"""Methods whose time the model knows."""

STAGES = {"data_processing": 3, "representation": 5}
"""How many of the stages, in their order, a pipeline ends with; all of them where it is not named."""


class RunLimits:
    """The memory that one run keeps to, where its tasks are done, and what is said about that, once, when it is known
    how large the graph is.

    Args:
        run: Its settings.
        project: Root of the project.
        nodes: The names of the nodes that run.
    """

    def __init__(self, run: Parameters, project: Path, nodes: Collection[str]) -> None:
        self._run, self._folder, self._nodes = run, local_folder(project, run.data_folder), nodes
        self.said = False
        self._executor = make_executor(run.execution, self._folder)
        self._executor_before = set_executor(self._executor)
        self._before = set_memory(memory_of_run(run.memory, self._folder))

    def begin(self) -> None:
        """Say it now if the source knows."""
        size = SOURCES.build(self._run.source).size()
        if size is not None:
            self._say(size)

    def say_of(self, graph: Graph, targets: Targets | None) -> None:
        """Say it of a graph that is there."""
        self._say(GraphSize.of(graph, targets))

    def end(self) -> None:
        """Let what comes after the run keep to what there was before."""
        set_memory(self._before)
        set_executor(self._executor_before)
        self._executor.close()

    def _say(self, size: GraphSize) -> None:
        self.said = True
        announce(self._run, size, memory(), self._nodes, self._folder)


def work_of(run: Parameters, size: GraphSize, limited: Memory) -> Work:
    """The numbers that decide what a run on a graph of that size takes; evaluation counts for the default head."""
    bank, settings = BANKS.build(run.filters), run.representation
    size, singular = _with_singular_vectors(size, run.features)
    work = Work(size.nodes, size.entries, size.features, size.drawn, singular, views=len(bank.names))
    dim = getattr(settings, "dim", size.features)
    numbers = size.nodes * dim * work.views
    kept = settings.embeddings == "always" or (settings.embeddings == "auto" and numbers <= STORED_NUMBERS)
    changes: dict[str, object] = {"dim": dim, "kept": kept}
    if isinstance(settings, FigureSettings):
        shape, entries = (size.nodes, size.features), size.entries + size.nodes
        step = full_step_bytes(
            shape,
            dim,
            entries,
            trained=len(bank.names) - sum(bank.identities),
            products=bank.products,
            working_blocks=bank.working_blocks,
            gcn_layers=settings.encoder.gcn_layers,
            filter_first=settings.encoder == EncoderSettings() and is_pair_filter_first(shape, dim, entries),
        )
        full = settings.strategy == "full" or step < min(FREE_SHARE * free_memory(), limited.limit)
        decoupled = settings.strategy == "decoupled" or (settings.strategy == "auto" and not full)
        changes |= {
            "epochs": min(settings.training.max_epochs, EPOCHS),
            "corruptions": settings.decoupled.corruptions if decoupled else None,
            "batch": settings.decoupled.batch_rows,
            "step": step,
        }
    if HEADS.part(run.evaluation).reads == "embeddings" and size.labelled:
        decays = min(6, run.evaluation.trials)
        splits = min(run.evaluation.splits or size.splits, size.splits)
        changes |= {"labelled": size.labelled, "classes": size.classes, "decays": decays}
        changes |= {"fits": splits * max(1, run.evaluation.trials // decays)}
    return Work(**{**vars(work), **changes})


def _with_singular_vectors(size: GraphSize, features: FeatureSettings) -> tuple[GraphSize, int]:
    """The size of a graph that is going to be drawn with its structural features, and how many singular vectors those
    are made of; other kinds, which have few columns or come quickly, are left out."""
    if (
        not isinstance(features, SpectralSettings)
        or not size.drawn
        or (features.structural == "auto" and size.features)
    ):
        return size, 0
    made = min(features.components, size.nodes)
    return replace(size, features=made + (size.features if features.keep_given else 0)), made


def predicted_seconds(run: Parameters, pipeline: str) -> float | None:
    """How long a pipeline may take on one core, with all that comes before it, if nothing of it is there.

    ``None`` if the source does not know how large its graph is, or the model does not know the method.

    Args:
        run: Its settings.
        pipeline: Its name; whatever comes after the embeddings counts with evaluation.
    """
    size = SOURCES.build(run.source).size()
    if size is None or run.representation.method not in MODELLED:
        return None
    limited = memory_of_run(run.memory, Path(run.data_folder))
    costs = list(stage_costs(work_of(run, size, limited), limited).values())
    return total(costs[: STAGES.get(pipeline)]).seconds


def announce(run: Parameters, size: GraphSize, limited: Memory, nodes: Collection[str], folder: Path) -> None:
    """Say what a run will take, and which way it goes.

    Args:
        run: Its settings.
        size: Of the graph.
        limited: What it may take.
        nodes: The names of the nodes that run.
        folder: Where its files are written.

    Raises:
        UserError: If the disk of the folder is too small.
    """
    costs = stage_costs(work_of(run, size, limited), limited)
    chosen = {name: cost for name, cost in costs.items() if name in nodes}
    need = total(list(chosen.values()))
    whole = all(limited.holds(array) for array in (4 * size.entries, 4 * size.nodes * max(size.features, 1)))
    way = "the graph in memory" if whole else "in blocks, large arrays in files"
    disk = need.stored + need.scratch
    logger.info(
        "%s nodes and %s edges will take about %s of memory (limit %s: %s), %s of disk and %s",
        f"{size.nodes:,}",
        f"{size.entries // (1 if getattr(run.source, 'directed', False) else 2):,}",
        _bytes(need.memory),
        _bytes(limited.limit),
        way,
        _bytes(disk),
        _duration(need.seconds),
    )
    free = shutil.disk_usage(_existing(folder)).free
    if disk > free:
        blocks = ", or lower representation.decoupled.corruptions" if need.scratch > need.stored else ""
        raise UserError(
            f"this run needs about {_bytes(disk)} of disk and {folder} has {_bytes(free)} left; free some, or choose "
            f"another data_folder{blocks}"
        )


def _existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    return next(path for path in [folder, *folder.parents] if path.exists())


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} seconds" if seconds < 120 else f"{seconds / 60:.0f} minutes"


def _bytes(number: float) -> str:
    return f"{number / GIB:.1f} GiB" if number >= 0.1 * GIB else f"{number / 2**20:.1f} MiB"
