"""Workers that take the steps of one training together, each on its share of the rows."""

from collections.abc import Iterable, Sequence

import torch
import torch.distributed


def count_rows(runs: Iterable[slice]) -> int:
    """How many rows there are in some runs.

    >>> count_rows([slice(0, 4), slice(8, 10)])
    6
    """
    return sum(run.stop - run.start for run in runs)


class Team:
    """One worker alone, which has all rows and adds nothing to its sums.

    Attributes:
        rank: The number of this worker.
        size: How many there are.
    """

    rank: int = 0
    size: int = 1

    def share(self, runs: Sequence[slice]) -> list[slice]:
        """What this worker has of the rows in some runs; the shares of all workers are about equal.

        >>> Team().share([slice(0, 4), slice(8, 10)])
        [slice(0, 4, None), slice(8, 10, None)]
        """
        rows = count_rows(runs)
        first, last = rows * self.rank // self.size, rows * (self.rank + 1) // self.size
        mine, before = [], 0
        for run in runs:
            start, stop = max(first - before, 0), min(last - before, run.stop - run.start)
            if start < stop:
                mine.append(slice(run.start + start, run.start + stop))
            before += run.stop - run.start
        return mine or [slice(0, 0)]

    def add_step(self, loss: torch.Tensor, parameters: Iterable[torch.nn.Parameter]) -> float:
        """The sum of the losses of all workers, whose gradients are added up in place."""
        return loss.item()

    def check_same(self, number: int) -> None:
        """Raise an error if the workers have different numbers."""


class TorchTeam(Team):
    """The workers of the process group of ``torch.distributed``, which is there already."""

    def __init__(self) -> None:
        self.rank, self.size = torch.distributed.get_rank(), torch.distributed.get_world_size()

    def add(self, tensor: torch.Tensor) -> torch.Tensor:
        """The sum of the tensors of all workers."""
        total = tensor.clone()
        torch.distributed.all_reduce(total)
        return total

    def add_step(self, loss: torch.Tensor, parameters: Iterable[torch.nn.Parameter]) -> float:
        """Everything in one message, because each takes its time."""
        gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
        total = self.add(torch.cat([loss.detach().view(1), *(gradient.view(-1) for gradient in gradients)]))
        sums = total[1:].split([gradient.numel() for gradient in gradients])
        for gradient, summed in zip(gradients, sums, strict=True):
            gradient.copy_(summed.view_as(gradient))
        return total[0].item()

    def check_same(self, number: int) -> None:
        found: list[int | None] = [None] * self.size
        torch.distributed.all_gather_object(found, number)
        if len(set(found)) > 1:
            raise RuntimeError(f"the workers have different checkpoints, after {found} epochs")


ALONE = Team()
