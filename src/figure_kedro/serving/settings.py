"""Whether a run leaves a model for others."""

import warnings
from typing import Annotated

from pydantic import Field

from figure_kedro.parts import Decides, Settings

with warnings.catch_warnings():
    # abstract classes of Python have a method of that name, which no settings use
    warnings.filterwarnings("ignore", message='Field name "register"')

    class ModelSettings(Settings):
        """The packaged model: encoder, classifier and what embedding needs of the graph, as one model of MLflow."""

        package: Annotated[bool, Decides.NOTHING] = Field(
            False, description="whether MLflow gets the model; it holds a copy of the graph"
        )
        register: Annotated[str | None, Decides.NOTHING] = Field(
            None,
            pattern=r"^[^/:]+$",
            description="the name under which it is registered as a new version; packages it too",
        )

        @property
        def wanted(self) -> bool:
            """Whether there is anything to do."""
            return self.package or self.register is not None
