"""The accuracies that the FiGURe paper reports, to stand beside measured ones."""

from functools import cache
from importlib import resources
from typing import Literal

import pandas as pd

SUPERVISED = ("gcn", "gprgnn", "h2gcn")
"""Have one row in the paper's tables, whatever their width."""

TEXT = ["dataset", "method", "projection", "variant", "table"]


def paper_cell(
    dataset: str, method: str, dim: int, projection: str, variant: str | None = ""
) -> tuple[float, float | None] | None:
    """Look up what "FiGURe: Simple and Efficient Unsupervised Node Representations with Filter Augmentations" (Ekbote
    et al., 2023) reports for one cell of its tables.

    Where two of its tables differ, the one that comes first in the main text counts: 83.91 for FiGURe at 32 dimensions
    with Fourier features on pubmed, though the comparison with supervised methods has 84.18; likewise at 128 dimensions
    and on roman_empire, and for GCN on chameleon (61.43 against 62.83). The table of other random projections does not
    state its dimension: it is read as 32, where the numbers fit; its Fourier row repeats FiGURe at 512 dimensions
    without a projection and is therefore never returned.

    Args:
        dataset: As in ``conf/base/datasets``: ``"roman_empire"``.
        method: ``"figure"``, ``"dgi"``, ``"gcn"`` and so on, lower case.
        dim: Dimension of the embeddings; 512, 128 or 32 in the paper. It does not matter for supervised methods.
        projection: ``"none"`` (or ``"identity"``), ``"fourier"``, ``"polynomial_2"``, ``"polynomial_10"``,
            ``"exponential"`` or ``"anova"``; see :func:`paper_projection`.
        variant: ``""`` for the main results, or what differs, see :func:`paper_variant`; ``None`` has no cell.

    Returns:
        Mean and standard deviation in percent, the latter ``None`` where it is not given (the single split of
        ogbn_arxiv); ``None`` if there is no such cell or the method ran out of memory in it.

    >>> paper_cell("cora", "figure", 512, "none")
    (87.0, 1.24)
    >>> paper_cell("cora", "figure", 64, "none") is None
    True
    """
    projection = "none" if projection == "identity" else projection
    dim = 512 if method in SUPERVISED else dim
    if variant is None:
        return None
    mean, std = _cells().get((dataset, method, dim, projection, variant), (None, None))
    return None if mean is None else (mean, std)


def paper_results() -> pd.DataFrame:
    """All cells of the paper's accuracy tables as printed, also those that occur in several tables.

    Returns:
        Columns dataset, method, dim, projection, variant, mean, std (percent) and table; the mean is missing where the
        method ran out of memory. Tables are in order of precedence.
    """
    source = resources.files(__package__).joinpath("paper_results.csv")
    with source.open(encoding="utf-8") as lines:
        return pd.read_csv(lines, dtype=dict.fromkeys(TEXT, str)).fillna({"variant": ""})


def paper_projection(name: str, kernel: Literal["polynomial", "exponential"] = "polynomial", degree: int = 2) -> str:
    """Name a projection as the paper's tables tell them apart.

    >>> paper_projection("maclaurin", "polynomial", 10)
    'polynomial_10'
    >>> paper_projection("identity")
    'none'
    """
    if name == "maclaurin":
        return f"polynomial_{degree}" if kernel == "polynomial" else "exponential"
    return "none" if name == "identity" else name


def paper_variant(
    *, bank: str = "monomial", size: int = 4, gcn_layers: int = 1, mlp_layers: int = 1, shared: bool = True
) -> str | None:
    """Name the ablation of the paper that has these settings; ``None`` if it has none.

    Args:
        bank: Filter bank; the paper compares Bernstein and Chebyshev banks with the monomial one.
        size: Number of filters; 4 for the monomial bank, 3 or 11 for the others.
        gcn_layers: How often a filter is applied.
        mlp_layers: Layers of the feature transformation.
        shared: Whether all filters share an encoder.

    >>> paper_variant(bank="bernstein", size=11), paper_variant(gcn_layers=2), paper_variant()
    ('bernstein_11', 'gcn_2', '')
    >>> paper_variant(bank="bernstein", size=11, gcn_layers=2) is None
    True
    """
    changed = []
    if (bank, size) != ("monomial", 4):
        changed.append(f"{bank}_{size}")
    if gcn_layers != 1:
        changed.append(f"gcn_{gcn_layers}")
    if mlp_layers != 1:
        changed.append(f"mlp_{mlp_layers}")
    if not shared:
        changed.append("independent")
    name = "+".join(changed)
    return name if name in {key[-1] for key in _cells()} else None


@cache
def _cells() -> dict[tuple[str, str, int, str, str], tuple[float | None, float | None]]:
    table = paper_results().drop_duplicates(["dataset", "method", "dim", "projection", "variant"])
    numbers = table[["mean", "std"]].astype(object).where(table[["mean", "std"]].notna(), None)
    keys = table[["dataset", "method", "dim", "projection", "variant"]].itertuples(index=False, name=None)
    return dict(zip(keys, numbers.itertuples(index=False, name=None), strict=True))
