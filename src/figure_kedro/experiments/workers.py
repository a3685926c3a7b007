"""Where the runs of experiments are made."""

from figure_kedro.execution import Executor, LocalProcesses, ThisProcess

IMPORTS = ("figure_kedro.experiments.cells", "figure_kedro.pipeline_registry")
"""What a run needs, which takes seconds."""


def executor_of(workers: int, ray: str | None) -> Executor:
    """What makes runs: this process, some of this machine that begin at once, or Ray (``local`` or an address)."""
    if ray is not None:
        from figure_kedro.execution.on_ray import OnRay

        return OnRay(None if ray == "local" else ray)
    if workers == 1:
        return ThisProcess()
    processes = LocalProcesses(workers)
    processes.start(*IMPORTS)
    return processes
