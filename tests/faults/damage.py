"""Ways to damage a file, and the artefacts of a run that can be damaged."""

from collections.abc import Callable
from pathlib import Path

from figure_kedro.datasets.files.content import forget


def cut(path: Path) -> None:
    """Leave the first half."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path: Path, place: float = 0.9) -> None:
    """Flip one bit of a byte, near the end unless said otherwise."""
    content = bytearray(path.read_bytes())
    content[int(place * (len(content) - 1))] ^= 0x10
    path.write_bytes(content)


def flip_early(path: Path) -> None:
    """Flip one bit near the beginning: of a header, a name, a number of rows."""
    flip(path, 0.1)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def delete(path: Path) -> None:
    path.unlink()


WAYS: dict[str, Callable[[Path], None]] = {
    "cut": cut,
    "flipped": flip,
    "flipped early": flip_early,
    "emptied": empty,
    "deleted": delete,
}


def damage(path: Path, way: str) -> None:
    """Damage a file, and let this process forget that it has read it."""
    WAYS[way](path)
    forget()


READ_BACK = {
    "03_primary/*/*/graph/adjacency_data.npy": "representation",
    "03_primary/*/*/graph/adjacency_indices.npy": "representation",
    "03_primary/*/*/graph/adjacency_indptr.npy": "representation",
    "03_primary/*/*/graph/features.npy": "representation",
    "03_primary/*/*/graph/ids.npy": "representation",
    "03_primary/*/*/graph/description.json": "representation",
    "03_primary/*/*/targets/labels.npy": "evaluation",
    "03_primary/*/*/targets/splits.npy": "evaluation",
    "03_primary/*/*/targets/twins.npy": "evaluation",
    "03_primary/*/*/targets/description.json": "evaluation",
    "05_model_input/*/*/operator/matrix_data.npy": "representation",
    "05_model_input/*/*/operator/matrix_indices.npy": "representation",
    "05_model_input/*/*/operator/matrix_indptr.npy": "representation",
    "05_model_input/*/*/operator/description.json": "representation",
    "06_models/*/*/checkpoint.safetensors": "representation",
    "06_models/*/*/weights.safetensors": "evaluation",
    "06_models/*/*/tuned_representation.json": "reporting",
    "07_model_output/*/*/embeddings/view_0.npy": "evaluation",
    "07_model_output/*/*/embeddings/view_2.npy": "projection",
    "07_model_output/*/*/embeddings/ids.npy": "evaluation",
    "07_model_output/*/*/embeddings/description.json": "reporting",
    "07_model_output/*/*/projection.json": "evaluation",
    "07_model_output/*/*/split_predictions.parquet": "reporting",
    "08_reporting/*/*/loss_curve.csv": "reporting",
    "08_reporting/*/*/split_scores.csv": "reporting",
    "08_reporting/*/*/split_alphas.csv": "reporting",
    "08_reporting/*/*/summary.json": "reporting",
    "08_reporting/*/*/timing.json": "reporting",
    "08_reporting/*/*/results.csv": "reporting",
    "08_reporting/*/*/alphas.csv": "reporting",
    "08_reporting/*/*/dataset_statistics.csv": "reporting",
    "03_primary/*/*/splits.parquet": "reporting",
    "05_model_input/*/*/filter_bank.json": "reporting",
}
"""Every file of a run that a later pipeline reads, or might, and one of the pipelines that do."""
