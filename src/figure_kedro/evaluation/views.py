"""The embeddings under all filters, projected when they are asked for."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from figure_kedro.graph.row_blocks import take_rows
from figure_kedro.projections import Projection


class Views:
    """Embeddings of the nodes that are judged, under every filter, through a random feature map.

    Only the last projection is kept, so that at most one projected copy exists at a time, and of it the rows of the
    split that is being searched.

    Args:
        embeddings: ``K`` arrays ``(n, d)``.
        projection: Fitted on the embeddings of all nodes.
        names: Of the filters; numbers by default.
    """

    def __init__(
        self, embeddings: Sequence[np.ndarray], projection: Projection, names: Sequence[str] | None = None
    ) -> None:
        self.names = tuple(names or map(str, range(len(embeddings))))
        self.choices = {name: list(values) for name, values in projection.choices.items()}
        self._embeddings, self._projection = embeddings, projection
        self._last: tuple[dict[str, Any], list[torch.Tensor]] | None = None
        self._taken: dict[bytes, list[torch.Tensor]] = {}

    def __len__(self) -> int:
        return len(self._embeddings)

    def projected(self, choice: dict[str, Any] | None = None) -> list[torch.Tensor]:
        """All views ``(n, D)``, float32, by the map that a choice names; other settings in it are left aside."""
        wanted = {name: value for name, value in (choice or {}).items() if name in self.choices}
        if self._last is None or self._last[0] != wanted:
            self._last, self._taken = None, {}  # free the old one first
            feature_map = self._projection.feature_map(**wanted)
            scaled = (self._projection.scaler.transform(view) for view in self._embeddings)
            self._last = wanted, [torch.as_tensor(feature_map.transform(view)) for view in scaled]
        return self._last[1]

    def rows(self, choice: dict[str, Any], *parts: np.ndarray) -> list[list[torch.Tensor]]:
        """The projected views of several sets of nodes, copied once for all trials that ask for the same sets."""
        projected, wanted = self.projected(choice), {part.tobytes(): part for part in parts}
        if self._taken.keys() != wanted.keys():
            self._taken = {}  # free the old ones first
            self._taken = {
                name: [torch.from_numpy(take_rows(view.numpy(), part)) for view in projected]
                for name, part in wanted.items()
            }
        return [self._taken[name] for name in wanted]
