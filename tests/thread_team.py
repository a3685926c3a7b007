"""Workers of one training in threads of this process, whose sums have a known order."""

import threading

import torch

from figure_kedro.training.team import Team, TorchTeam


class ThreadTeam(Team):
    """A worker in a thread; the sums are made by the last one that comes, in the order of the workers."""

    def __init__(self, rank, size, together, parts):
        self.rank, self.size, self._together, self._parts = rank, size, together, parts

    def add(self, tensor):
        self._parts[self.rank] = tensor.clone()
        self._together.wait()
        total = torch.stack(self._parts).sum(0)
        self._together.wait()
        return total

    add_step = TorchTeam.add_step


def in_threads(work, size):
    """What each worker of a team returns: ``work(team)``, all at the same time."""
    together, parts, results = threading.Barrier(size, timeout=30), [None] * size, [None] * size

    def run(rank):
        results[rank] = work(ThreadTeam(rank, size, together, parts))

    workers = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return results
