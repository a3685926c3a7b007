"""Random Maclaurin features for polynomial and exponential kernels."""

from collections.abc import Collection
from typing import Any, Literal, Self

import numpy as np
from pydantic import Field

from figure_kedro.errors import UserError
from figure_kedro.projections.feature_map import MAPS, FeatureMap, RandomMapSettings


class MaclaurinSettings(RandomMapSettings):
    """Random Maclaurin features of the kernel (x.y + 1)^degree or exp(x.y / sigma^2)."""

    map: Literal["maclaurin"] = "maclaurin"
    kernel: Literal["polynomial", "exponential"] = Field("polynomial", description="which kernel")
    degree: int = Field(2, ge=1, le=20, description="degree of the polynomial kernel")
    sigma: float = Field(1.0, gt=0, description="width of the exponential kernel")

    def idle(self) -> Collection[str]:
        return {*super().idle(), "sigma" if self.kernel == "polynomial" else "degree"}


@MAPS.register
class Maclaurin(FeatureMap):
    r"""Random Maclaurin features, after "Random Feature Maps for Dot Product Kernels" (Kar and Karnick, 2012).

    A kernel :math:`k(x, y) = \sum_N a_N (x \cdot y)^N` with :math:`a_N \ge 0` is the mean of

    .. math:: \phi_k(x) = \sqrt{\frac{a_N}{p_N D}} \prod_{j=1}^{N} \omega_{kj} \cdot x

    where the order :math:`N` of feature :math:`k` is drawn with probability :math:`p_N` and every
    :math:`\omega_{kj} \in \{-1, 1\}^d` uniformly; :math:`\phi(x) \cdot \phi(y)` is unbiased for any :math:`p`. Here
    :math:`p_N = a_N / \sum_M a_M`, which for rows of about unit length has a smaller variance than the article's
    :math:`2^{-(N+1)}` and makes every factor :math:`\sqrt{a_N / p_N}` the same:

    - ``"polynomial"``, :math:`(x \cdot y + 1)^{degree}`: :math:`N` is binomial(degree, 1/2), the factor
      :math:`2^{degree / 2}`;
    - ``"exponential"``, :math:`\exp(x \cdot y / \sigma^2)`: :math:`N` is Poisson(:math:`\sigma^{-2}`), the factor
      :math:`\exp(\sigma^{-2} / 2)`.

    The variance grows with :math:`\lVert x \rVert^{2N}`, so embeddings should be scaled first.

    Args:
        dim: The number of features :math:`D`.
        kernel: ``"polynomial"`` or ``"exponential"``.
        degree: Degree of the polynomial kernel.
        sigma: Width of the exponential kernel; at least 0.2.
        random_state: Seed.

    Attributes:
        orders_: :math:`N` of every feature, descending, ``(D,)``.
        signs_: For each :math:`j` the vectors :math:`\omega_{kj}` of the features with :math:`N \ge j`, which are the
            first ones; float32 arrays ``(d, count)``.
    """

    Settings = MaclaurinSettings

    def __init__(
        self,
        dim: int = 512,
        kernel: Literal["polynomial", "exponential"] = "polynomial",
        degree: int = 2,
        sigma: float = 1.0,
        random_state: int = 0,
    ) -> None:
        self.dim = dim
        self.kernel = kernel
        self.degree = degree
        self.sigma = sigma
        self.random_state = random_state

    @classmethod
    def from_settings(cls, settings: MaclaurinSettings, **choice: Any) -> Self:
        return cls(settings.dim, settings.kernel, settings.degree, settings.sigma, settings.seed)

    def _draw(self, d: int) -> int:
        rng = np.random.default_rng(self.random_state)
        if self.kernel == "polynomial":
            orders = rng.binomial(self.degree, 0.5, size=self.dim)
            self.factor_ = 2.0 ** (self.degree / 2)
        elif self.kernel == "exponential":
            if self.sigma < 0.2:
                raise UserError(f"sigma is {self.sigma}; below 0.2 the features are only noise, raise it or scale")
            orders = rng.poisson(self.sigma**-2, size=self.dim)
            self.factor_ = float(np.exp(self.sigma**-2 / 2))
        else:
            raise UserError(f"there is no kernel {self.kernel!r}; choose one of: exponential, polynomial")
        self.orders_ = -np.sort(-orders)
        counts = [int((self.orders_ >= j).sum()) for j in range(1, self.orders_[0] + 1)]
        self.signs_ = [(2 * rng.integers(0, 2, size=(d, count)) - 1).astype(np.float32) for count in counts]
        return self.dim

    def _features(self, rows: np.ndarray) -> np.ndarray:
        features = np.full((len(rows), self.dim), self.factor_ / np.sqrt(self.dim), dtype=np.float32)
        for signs in self.signs_:
            features[:, : signs.shape[1]] *= rows @ signs
        return features
