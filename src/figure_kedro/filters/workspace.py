"""Large arrays that are used again in every step."""

import torch


class Workspace:
    """Hands out arrays in turn, and the same ones again after :meth:`rewind`.

    An array of many megabytes comes fresh from the operating system, which maps and clears it page by page; that takes
    about as long as filling it with results. A training step needs the same arrays each time, so it rewinds the
    workspace when it starts and never pays twice. What was handed out before is overwritten then.
    """

    def __init__(self) -> None:
        self._arrays: list[torch.Tensor] = []
        self._next = 0

    def rewind(self) -> None:
        """Start again with the first array."""
        self._next = 0

    def take(self, shape: tuple[int, ...], like: torch.Tensor) -> torch.Tensor:
        """An array of that shape, with the type and device of another one and any content.

        It is handed out as another tensor on the same numbers: a differentiated function that returned the one that is
        kept would tie it to the function, which knows the workspace, and neither would ever be freed.
        """
        if self._next == len(self._arrays):
            self._arrays.append(like.new_empty(shape))
        array = self._arrays[self._next]
        if array.shape != shape or array.dtype != like.dtype or array.device != like.device:
            array = self._arrays[self._next] = like.new_empty(shape)
        self._next += 1
        return array.detach()
