"""Pictures on disk: PNG for pages, PDF and SVG for papers."""

import base64
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
from kedro.io import AbstractDataset
from kedro_datasets._typing import ImagePreview
from matplotlib.figure import Figure

from figure_kedro.datasets.files.sealed_file import is_whole, read_sealed, write_sealed


class PictureDataset(AbstractDataset[Figure, bytes]):
    """Saves a picture as PNG, and beside it in other formats; what is loaded are the bytes of the PNG.

    Args:
        filepath: Of the PNG.
        formats: ``pdf`` and ``svg`` are written beside it.
        dpi: Points per inch of the PNG.
        metadata: For Kedro-Viz, which shows the picture.

    Example::

        tsne:
          type: figure_kedro.datasets.picture_dataset.PictureDataset
          filepath: data/08_reporting/cora/tsne.png
          formats: [png, pdf]
    """

    def __init__(
        self,
        *,
        filepath: str,
        formats: Sequence[str] = ("png",),
        dpi: int = 150,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self._filepath, self._formats, self._dpi = Path(filepath), tuple(formats), dpi
        self.metadata = metadata

    def save(self, data: Figure) -> None:
        for kind in dict.fromkeys(["png", *self._formats]):
            drawn = io.BytesIO()
            undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)  # equal pictures, equal files
            with matplotlib.rc_context({"pdf.fonttype": 42, "svg.fonttype": "none"}):  # text stays text
                data.savefig(drawn, format=kind, dpi=self._dpi, metadata=undated)
            write_sealed(self._filepath.with_suffix(f".{kind}"), drawn.getvalue())

    def load(self) -> bytes:
        return read_sealed(self._filepath)

    def preview(self) -> ImagePreview:
        """The picture, for Kedro-Viz."""
        return ImagePreview(base64.b64encode(self.load()).decode())

    def _exists(self) -> bool:
        return is_whole(self._filepath)

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._filepath), "formats": self._formats}
