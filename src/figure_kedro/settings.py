"""Project settings; Kedro reads them when a session starts."""

from figure_kedro import log_noise
from figure_kedro.config import ProjectConfigLoader
from figure_kedro.hooks import ProjectHooks

log_noise.silence()

HOOKS = (ProjectHooks(),)
CONFIG_LOADER_CLASS = ProjectConfigLoader
CONFIG_LOADER_ARGS = {
    "base_env": "base",
    "default_run_env": "local",
    "merge_strategy": {"parameters": "soft", "datasets": "soft", "catalog": "soft"},
}
