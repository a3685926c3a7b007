"""Random Fourier features, the paper's projection."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, PositiveFloat
from sklearn.kernel_approximation import RBFSampler

from figure_kedro.parts import LISTED
from figure_kedro.projections.feature_map import MAPS, FeatureMap, RandomMapSettings


class FourierSettings(RandomMapSettings):
    """Random Fourier features of the Gaussian kernel exp(-gamma^2 |x - y|^2 / 2)."""

    map: Literal["fourier"] = "fourier"
    gammas: Annotated[tuple[PositiveFloat, ...], LISTED] = Field(
        tuple(round(0.1 * i, 1) for i in range(1, 13)),
        min_length=1,
        description="inverse widths of the kernel that are tried on validation; one value fixes it",
    )


@MAPS.register
class Fourier(FeatureMap):
    r"""Random Fourier features, after "Random Features for Large-Scale Kernel Machines" (Rahimi and Recht, 2007):

    .. math:: \phi(X) = \sqrt{2 / D} \, \cos(\gamma X W + b), \quad
              \phi(x) \cdot \phi(y) \approx \exp(-\gamma^2 \lVert x - y \rVert^2 / 2)

    with :math:`W_{jk} \sim N(0, 1)` of shape :math:`d \times D` and :math:`b_k` uniform on :math:`[0, 2\pi]`. This is
    scikit-learn's ``RBFSampler`` with :math:`\gamma_{sklearn} = \gamma^2 / 2`. The inner product is unbiased and its
    standard deviation is at most :math:`\sqrt{1.5 / D}`.

    Args:
        dim: The number of features :math:`D`.
        gamma: :math:`\gamma`, relative to the scale of the embeddings.
        random_state: Seed; with one seed the maps of two ``gamma`` share :math:`W / \gamma` and :math:`b`.

    Attributes:
        sampler_: The fitted ``RBFSampler``, which holds :math:`\gamma W` and :math:`b`.
    """

    Settings = FourierSettings

    def __init__(self, dim: int = 512, gamma: float = 0.5, random_state: int = 0) -> None:
        self.dim = dim
        self.gamma = gamma
        self.random_state = random_state

    @classmethod
    def choices(cls, settings: FourierSettings) -> dict[str, Sequence[Any]]:
        return {"gamma": settings.gammas}

    @classmethod
    def from_settings(cls, settings: FourierSettings, **choice: Any) -> Self:
        gamma = choice.get("gamma", settings.gammas[len(settings.gammas) // 3])
        return cls(settings.dim, gamma, settings.seed)

    def _draw(self, d: int) -> int:
        sampler = RBFSampler(gamma=self.gamma**2 / 2, n_components=self.dim, random_state=self.random_state)
        self.sampler_ = sampler.fit(np.zeros((1, d), dtype=np.float32))
        return self.dim

    def _features(self, rows: np.ndarray) -> np.ndarray:
        return self.sampler_.transform(rows)
