"""Settings of what is asked of a trained model: new nodes, and the nearest ones."""

from typing import Annotated, Literal

from pydantic import Field

from figure_kedro.parts import Decides, Settings


class InferenceSettings(Settings):
    """The tables of new nodes; their columns are named as those of ``source`` if that is the user's own graph."""

    edges: Annotated[str | None, Decides.CONTENT] = Field(
        None, description="table of edges among new nodes and between new and known ones; default: there are none"
    )
    nodes: Annotated[str | None, Decides.CONTENT] = Field(
        None, description="table of new nodes, with the features of training in any order"
    )
    predictions: Literal["auto", "always", "never"] = Field(
        "auto", description="whether classes are predicted; auto: where there is a classifier"
    )


class NeighbourSettings(Settings):
    """The nearest nodes of each node, by cosine."""

    k: int = Field(10, ge=1, le=1000, description="how many of each node")
    of: Annotated[str | None, Decides.CONTENT] = Field(
        None, description="table whose first column holds the ids that are asked for; default: all nodes"
    )
    index: Literal["auto", "exact", "approximate"] = Field(
        "auto", description="auto: exact where that takes seconds, else an approximate index (extra neighbours)"
    )
