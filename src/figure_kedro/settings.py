"""Project settings; Kedro reads them when a session starts."""

from figure_kedro import log_noise, telemetry, viz

log_noise.silence()  # before kedro-mlflow is imported, which has something to say
telemetry.switch_off()
viz.show_the_run_that_is_asked_for()

from figure_kedro.config import ProjectConfigLoader  # noqa: E402
from figure_kedro.hooks import ProjectHooks, TrackingHooks  # noqa: E402
from figure_kedro.tracking.hook import RunTracking  # noqa: E402

HOOKS = (TrackingHooks(), ProjectHooks(), RunTracking())
DISABLE_HOOKS_FOR_PLUGINS = ("kedro_mlflow",)  # RunTracking takes its place
CONFIG_LOADER_CLASS = ProjectConfigLoader
CONFIG_LOADER_ARGS = {
    "base_env": "base",
    "default_run_env": "local",
    "merge_strategy": {"parameters": "soft", "datasets": "soft", "experiments": "soft", "catalog": "soft"},
}
