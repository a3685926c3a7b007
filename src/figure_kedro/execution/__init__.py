"""Where work runs: in this process, in local processes, or on Ray."""

from figure_kedro.execution.executor import Executor, Lost, Task
from figure_kedro.execution.local import LocalProcesses
from figure_kedro.execution.make import executor, make_executor, set_executor, use_executor
from figure_kedro.execution.settings import ExecutionSettings
from figure_kedro.execution.this_process import ThisProcess

__all__ = [
    "ExecutionSettings",
    "Executor",
    "LocalProcesses",
    "Lost",
    "Task",
    "ThisProcess",
    "executor",
    "make_executor",
    "set_executor",
    "use_executor",
]
