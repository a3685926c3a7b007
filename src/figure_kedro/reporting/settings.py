"""Settings of what is drawn."""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from figure_kedro.parts import Decides, Settings


class ReportingSettings(Settings):
    """How pictures are kept; no number depends on it."""

    formats: Annotated[tuple[Literal["png", "pdf", "svg"], ...], Decides.NOTHING] = Field(
        ("png",), description="of pictures: pdf and svg are written beside png; on the command line pdf+svg"
    )

    @field_validator("formats", mode="before")
    @classmethod
    def _a_command_line_has_no_lists(cls, formats: object) -> object:
        return tuple(formats.split("+")) if isinstance(formats, str) else formats
