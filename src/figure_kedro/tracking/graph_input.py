"""A graph as an input of a run, for MLflow."""

import json
from typing import Any

from mlflow.data.code_dataset_source import CodeDatasetSource
from mlflow.data.dataset import Dataset

DIGEST_LENGTH = 36
"""What MLflow takes of a digest."""


class GraphInput(Dataset):
    """The name, the checksum and the size of a graph; the graph itself stays where it is.

    Args:
        profile: What :meth:`~figure_kedro.datasets.graph_dataset.GraphDataset.profile` says of it.
        source: Where it comes from: the settings of its source.
    """

    def __init__(self, profile: dict[str, Any], source: dict[str, Any]) -> None:
        self._profile = profile
        described = CodeDatasetSource({name: str(value) for name, value in source.items()})
        super().__init__(source=described, name=profile["name"], digest=profile["checksum"][:DIGEST_LENGTH])

    def _compute_digest(self) -> str:
        return str(self._profile["checksum"])[:DIGEST_LENGTH]

    def to_dict(self) -> dict[str, str]:
        return {**super().to_dict(), "profile": json.dumps(self._profile)}

    @property
    def profile(self) -> dict[str, Any]:
        return self._profile

    @property
    def schema(self) -> None:
        return None
