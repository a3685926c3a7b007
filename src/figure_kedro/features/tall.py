"""What an iteration does with a block of vectors over all nodes: in memory, or in files and part by part."""

import math
from collections.abc import Callable, Iterator
from typing import Protocol

import torch

from figure_kedro.graph.row_blocks import even_blocks
from figure_kedro.memory import memory

DEPENDENT = 1e-10
"""A vector of length 1 of which less than this is new adds nothing; rounding to float32 adds a hundred times more."""

Columnwise = Callable[[torch.Tensor], torch.Tensor]
"""Makes ``(n, c)`` of ``(n, c)``, each column by itself."""


class Tall(Protocol):
    """Operations on blocks of columns ``(n, w)``, float32, with many rows. A block that is changed into another one
    must not be used again."""

    def normal(self, rows: int, columns: int, generator: torch.Generator) -> torch.Tensor:
        """A block of random numbers."""

    def by_columns(self, function: Columnwise, block: torch.Tensor) -> torch.Tensor:
        """The block that a function makes of another one, which stays."""

    def orthonormal(self, block: torch.Tensor) -> torch.Tensor:
        """Change a block into orthonormal columns with the same span."""

    def gram(self, block: torch.Tensor) -> torch.Tensor:
        """The products of all pairs of columns ``(w, w)``, in double precision: squaring costs small ones nothing."""

    def rotated(self, block: torch.Tensor, rotation: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """Change a block into its product with a matrix ``(w, w)``, each column of it divided by a length ``(w,)``."""

    def leading(self, block: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
        """Change a block into its first columns, with zeros in those that are not kept ``(c,)``."""


def tall(rows: int, columns: int) -> Tall:
    """Operations in memory where that holds such blocks, else in files."""
    return InMemory() if memory().holds(4 * rows * columns) else InFiles()


class InMemory:
    """Everything at once."""

    def normal(self, rows: int, columns: int, generator: torch.Generator) -> torch.Tensor:
        return torch.randn(rows, columns, generator=generator)

    def by_columns(self, function: Columnwise, block: torch.Tensor) -> torch.Tensor:
        return function(block)

    def orthonormal(self, block: torch.Tensor) -> torch.Tensor:
        return torch.linalg.qr(block).Q

    def gram(self, block: torch.Tensor) -> torch.Tensor:
        return block.T.double() @ block.double()

    def rotated(self, block: torch.Tensor, rotation: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        return block @ rotation / lengths

    def leading(self, block: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
        return block[:, : len(kept)] * kept


class InFiles:
    """Blocks in mapped files, of which some columns, or some rows, are in memory at a time."""

    def normal(self, rows: int, columns: int, generator: torch.Generator) -> torch.Tensor:
        return _empty(rows, columns).normal_(generator=generator)

    def by_columns(self, function: Columnwise, block: torch.Tensor) -> torch.Tensor:
        """As few parts of equal width as memory allows."""
        result, columns = _empty(*block.shape), block.shape[1]
        parts = math.ceil(columns / min(columns, memory().entries(4 * len(block))))
        step = math.ceil(columns / parts)
        for first in range(0, columns, step):
            some = slice(first, first + step)
            result[:, some] = function(block[:, some].contiguous())
        return result

    def orthonormal(self, block: torch.Tensor) -> torch.Tensor:
        r"""The triangle of a QR decomposition grows with every part of the rows, after "Communication-optimal parallel
        and sequential QR and LU factorizations" (Demmel et al., 2012), and tells how to change the columns:

        .. math:: X D^{-1} = Q R, \quad R = U S W^T, \quad X D^{-1} W S^{-1} = Q U

        :math:`D` holds the lengths of the columns. All of it is in double precision, in which the largest and the
        smallest number of :math:`S` may be as far apart as rounding to float32 lets them be. A column that
        depends on the others becomes zero.
        """
        squares = torch.zeros(block.shape[1], dtype=torch.float64)
        for _, rows in _parts(block):
            squares += rows.square().sum(0)
        lengths = squares.sqrt().clamp(min=1e-300)
        triangle = torch.empty(0, block.shape[1], dtype=torch.float64)
        for _, rows in _parts(block):
            triangle = torch.linalg.qr(torch.vstack([triangle, rows / lengths]), mode="r").R
        _, sizes, axes = torch.linalg.svd(triangle)
        change = torch.where(sizes > DEPENDENT, axes.T / sizes, 0.0) / lengths[:, None]
        for some, rows in _parts(block):
            block[some] = (rows @ change).float()
        return block

    def gram(self, block: torch.Tensor) -> torch.Tensor:
        products = torch.zeros(block.shape[1], block.shape[1], dtype=torch.float64)
        for _, rows in _parts(block):
            products += rows.T @ rows
        return products

    def rotated(self, block: torch.Tensor, rotation: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        for some in even_blocks(*block.shape):
            block[some] = block[some] @ rotation / lengths
        return block

    def leading(self, block: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
        first = block[:, : len(kept)]
        for some in even_blocks(*block.shape):
            first[some] *= kept
        return first


def _empty(rows: int, columns: int) -> torch.Tensor:
    return torch.from_numpy(memory().empty((rows, columns)))


def _parts(block: torch.Tensor) -> Iterator[tuple[slice, torch.Tensor]]:
    """Some rows after the other, in double precision."""
    for some in even_blocks(*block.shape):
        yield some, block[some].double()
