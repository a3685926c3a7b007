"""What a run takes in memory, on disk and in time: one model, with constants that were measured."""

import math
from dataclasses import dataclass, replace

from figure_kedro.memory import Memory

PROCESS_BYTES, PROCESS_SECONDS = 480e6, 15.0
"""Of Python with all that is imported, and of what does not depend on the graph, such as pictures."""

BLOCK_ENTRY_BYTES, BLOCK_ENTRIES = 65, 2**21
"""Of a block of rows of a sparse matrix that something is computed from."""

BUILD_ENTRY_BYTES = 27
"""Of a block of rows that is built from a list of edges, without weights."""

BATCH_BYTES = 4000
"""Of a training step on stored rows, for each row of the batch, at 32 features and dimensions."""

# Seconds of one core of a 2 GHz server. They grow a little faster than the graph, since ever less of it stays near the
# processor: 1 and 2 million nodes take up to an eighth less than these say, 10 million a third more.
DRAW_ENTRY, PREPARE_ENTRY, NORMALISE_ENTRY, COUNT_ENTRY = 1.6e-7, 1.8e-7, 8e-8, 1.1e-7
MULTIPLY_ADD = 1.6e-9
"""Of a product of a sparse matrix with a block of columns: it waits for memory, not for the processor."""
DENSE_MULTIPLY_ADD = 1.2e-10
STORED_NUMBER = 4e-9
"""A number that is written to disk and read again."""
KEPT_NUMBER = 9e-8
"""A number that is written as an array and as a column of a table."""

PREDICTED_NODE, PREDICTED_NODE_BYTES, PROBABILITY_BYTES = 2e-6, 140, 9
"""Seconds of a row in the table of predictions of all nodes, and bytes of one that is held until its group is written,
for each class and beside them."""

PREDICTED_ROWS, PREDICTED_VALUES = 2**20, 2**26
"""Of a group of rows that lies together in the file of predictions."""

SINGULAR_BESIDE, SINGULAR_PRODUCTS, SINGULAR_TURNS = 16, 53, 40
"""Of singular vectors: columns beside those wanted, products with the matrix, multiply-adds of all pairs of columns."""
SINGULAR_COPIES, SINGULAR_BLOCKS = 10, 6
"""Arrays of all of them that are in memory at a time, or parts of them where they lie in files."""

EPOCHS = 300
"""Of a training that stops by itself, where more are allowed."""

EVALUATIONS = 90
"""Of the classifier's loss until a fit has ended."""


@dataclass(frozen=True)
class Work:
    """The numbers that decide what a run takes.

    Args:
        nodes, entries, features: Of the graph; an undirected edge has two entries.
        drawn: Whether the graph is drawn here, and not read.
        singular: Singular vectors that features are made of; 0 if none are.
        dim: Columns of an embedding.
        views: Filters of the bank; the products with the operator are one less.
        corruptions: Stored corruptions of the ``decoupled`` strategy; ``None`` for training on the whole graph.
        batch: Rows of a training step on stored rows.
        epochs: Of training; 0 if nothing is trained.
        step: Bytes of a training step on the whole graph.
        kept: Whether embeddings are kept on disk.
        labelled, classes, fits, decays: Of the evaluation: nodes, classes, how often a classifier is fitted, and how
            many weight decays are fitted at a time.
    """

    nodes: int
    entries: int
    features: int
    drawn: bool = False
    singular: int = 0
    dim: int = 32
    views: int = 4
    corruptions: int | None = None
    batch: int = 65_536
    epochs: int = 0
    step: float = 0.0
    kept: bool = False
    labelled: int = 0
    classes: int = 2
    fits: int = 1
    decays: int = 6


@dataclass(frozen=True)
class Cost:
    """Bytes of anonymous memory at most, bytes on disk that stay, bytes on disk at a time beside them, and seconds."""

    memory: float = 0.0
    stored: float = 0.0
    scratch: float = 0.0
    seconds: float = 0.0


def stage_costs(work: Work, memory: Memory) -> dict[str, Cost]:
    """What every stage takes, by the name of its node."""
    return {
        "prepare_graph": _graph(work, memory),
        "normalise_adjacency": _operator(work, memory),
        "summarise_graph": Cost(_block(work) + 80 * work.nodes, seconds=COUNT_ENTRY * work.entries),
        "train_encoder": _training(work, memory),
        "embed_nodes": _embedding(work, memory),
        "evaluate_splits": _evaluation(work, memory),
        "fit_classifier": _predictions(work, memory),
    }


def total(costs: list[Cost]) -> Cost:
    """Of stages one after another: memory and scratch space are free again when one of them ends."""
    return Cost(
        PROCESS_BYTES + max((cost.memory for cost in costs), default=0.0),
        sum(cost.stored for cost in costs),
        max((cost.scratch for cost in costs), default=0.0),
        PROCESS_SECONDS + sum(cost.seconds for cost in costs),
    )


def propagated_bytes(nodes: int, features: int, filters: int, corruptions: int) -> int:
    """Of the rows that training on stored rows reads: the true ones, and each corruption, under every filter."""
    return 4 * (1 + max(1, corruptions)) * filters * nodes * (features + 1)


def full_step_bytes(
    shape: tuple[int, int],
    dim: int,
    entries: int,
    *,
    trained: int,
    products: int,
    working_blocks: int,
    gcn_layers: int = 1,
    encoders: int = 1,
    filter_first: bool = False,
) -> int:
    """Of a training step on the whole graph, beside the graph itself.

    In blocks of ``2 d`` columns: the gradient of each filter, two more for each further layer, the results of the
    products forward and backward, and the bank's working blocks. Where features are filtered first, one result
    serves all filters, and the blocks that are filtered have the features' columns.

    Args:
        shape: Of the features.
        dim: Columns of an embedding.
        entries: Of the operator.
        trained, products, working_blocks: Of the bank: filters that are trained, products, further blocks.
        gcn_layers, encoders: Of the model.
        filter_first: Whether features are filtered before the weights.
    """
    n, f = shape
    if filter_first:
        columns = (trained + 2) * 2 * dim + (2 * trained + products + 2) * (f + 1)
    else:
        columns = (trained * (2 * gcn_layers - 1) + 2 * products + working_blocks) * 2 * dim
    return 4 * (n * columns + 8 * (f + dim) * dim * encoders) + 12 * entries


def _graph(work: Work, memory: Memory) -> Cost:
    n, entries = work.nodes, work.entries
    arrays = [4 * entries, 4 * entries, 4 * n * work.features, 8 * n, 8 * n, 8 * n]
    drawing = [2 * entries, 2 * entries] if work.drawn else []  # both ends of every edge
    block = BUILD_ENTRY_BYTES * min(entries, 2**24, memory.entries(64))
    held, filed = _parted([*arrays, *drawing], memory)
    seconds = (DRAW_ENTRY * work.drawn + PREPARE_ENTRY) * entries
    vectors = _singular_vectors(work, memory)
    memory_bytes = held + max(block, vectors.memory) + 40 * n
    return Cost(memory_bytes, sum(arrays), filed + vectors.scratch, seconds + vectors.seconds)


def _singular_vectors(work: Work, memory: Memory) -> Cost:
    if not work.singular:
        return Cost()
    n, width = work.nodes, min(work.nodes, work.singular + SINGULAR_BESIDE)
    held, filed = _parted([4 * work.entries] * 4, memory)  # the matrix and its transpose
    vectors = 4 * n * width
    if memory.holds(vectors):
        working, scratch = float(SINGULAR_COPIES * vectors), 0.0
    else:
        working = SINGULAR_BLOCKS * _column_block(n, width, memory, width) + 8 * SINGULAR_BLOCKS * BLOCK_ENTRIES
        scratch = 4.0 * vectors
    columns_held, columns_filed = _parted([4 * n * work.singular, 8 * n * work.singular], memory)
    seconds = (
        SINGULAR_PRODUCTS * work.entries * width * MULTIPLY_ADD + SINGULAR_TURNS * n * width**2 * DENSE_MULTIPLY_ADD
    )
    return Cost(held + max(working, columns_held), scratch=filed + scratch + columns_filed, seconds=seconds)


def _operator(work: Work, memory: Memory) -> Cost:
    entries = work.entries + work.nodes
    held, filed = _parted([4 * entries, 4 * entries], memory)
    return Cost(held + _block(work) + 40 * work.nodes, 8 * entries, filed, NORMALISE_ENTRY * entries)


def _training(work: Work, memory: Memory) -> Cost:
    n, width, filters = work.nodes, work.features + 1, work.views - 1
    if not work.epochs:
        return Cost()
    if work.corruptions is None:
        products = 4 * filters * work.entries * work.dim * MULTIPLY_ADD  # pairs, forwards and backwards
        return Cost(work.step, seconds=work.epochs * (products + _step_seconds(work)))
    copies = 1 + max(1, work.corruptions)
    stored = propagated_bytes(n, work.features, filters, work.corruptions)
    batch = BATCH_BYTES * min(n, work.batch) * (width + work.dim) / 65
    once = copies * filters * work.entries * width * MULTIPLY_ADD + stored / 4 * STORED_NUMBER
    return Cost(
        max(4 * _column_block(n, width, memory) + 8 * n, batch),
        scratch=stored,
        seconds=once + work.epochs * (_step_seconds(work) + stored / 4 / copies * 2 * STORED_NUMBER),
    )


def _step_seconds(work: Work) -> float:
    return 6 * work.nodes * (work.views - 1) * (work.features + 1) * work.dim * DENSE_MULTIPLY_ADD


def _embedding(work: Work, memory: Memory) -> Cost:
    n, view = work.nodes, 4 * work.nodes * work.dim
    held, filed = _parted([view] * (2 if memory.holds(view) else work.views + 1), memory)
    products = (work.views - 1) * work.entries * work.dim * MULTIPLY_ADD
    numbers = n * work.dim * work.views
    written = numbers * (KEPT_NUMBER if work.kept else STORED_NUMBER)
    return Cost(
        held + 3.5 * _column_block(n, work.dim, memory, work.dim),
        2 * 4 * numbers if work.kept else 0.0,
        max(filed, 0.0 if work.kept else 4 * numbers),
        products + n * work.features * work.dim * DENSE_MULTIPLY_ADD + written,
    )


def _evaluation(work: Work, memory: Memory) -> Cost:
    if not work.labelled:
        return Cost()
    rows, problems = work.labelled, work.decays * work.classes
    some = [4 * rows * work.dim] * work.views if rows < work.nodes else []
    fitted = [4 * rows // 2 * work.dim] * (work.views + 2) + [rows * work.dim] * work.views  # training and validation
    held, filed = _parted([*some, *fitted], memory)
    working = min(16 * max(8, problems) * rows / 2, memory.limit / 16)
    seconds = work.fits * EVALUATIONS * 2 * work.views * rows / 2 * work.dim * max(8, problems) * DENSE_MULTIPLY_ADD
    return Cost(held + working + 24 * rows * work.classes, scratch=filed, seconds=seconds)


def _predictions(work: Work, memory: Memory) -> Cost:
    if not work.labelled:
        return Cost()
    rows = min(work.nodes, PREDICTED_ROWS, PREDICTED_VALUES // (work.classes + 5))
    row = PREDICTED_NODE_BYTES + PROBABILITY_BYTES * work.classes
    known = 2 * work.nodes + 8 * work.labelled  # which nodes have labels, and which labels were fitted
    fit = _evaluation(replace(work, decays=1), memory)
    return Cost(max(row * rows, fit.memory) + known, scratch=fit.scratch, seconds=PREDICTED_NODE * work.nodes)


def _block(work: Work) -> float:
    return BLOCK_ENTRY_BYTES * min(work.entries, BLOCK_ENTRIES)


def _column_block(rows: int, columns: int, memory: Memory, most: int = 32) -> float:
    """Bytes of a block of columns that goes through the filters: as few blocks as memory allows, of equal width."""
    blocks = math.ceil(columns / min(columns, most, memory.entries(4 * max(1, rows))))
    return 4 * rows * math.ceil(columns / blocks)


def _parted(sizes: list[int], memory: Memory) -> tuple[float, float]:
    """Of arrays of so many bytes, how many are in memory and how many in files."""
    held = sum(size for size in sizes if memory.holds(size))
    return held, sum(sizes) - held
