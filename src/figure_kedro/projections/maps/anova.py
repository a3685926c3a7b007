"""Random features for the ANOVA kernel."""

from typing import Any, Literal, Self

import numpy as np
from pydantic import Field

from figure_kedro.projections.feature_map import MAPS, FeatureMap, RandomMapSettings


class AnovaSettings(RandomMapSettings):
    """Random features of the ANOVA kernel."""

    map: Literal["anova"] = "anova"
    degree: int = Field(2, ge=1, le=20, description="degree of the kernel")


@MAPS.register
class Anova(FeatureMap):
    r"""Random features for the ANOVA kernel of "Polynomial Networks and Factorization Machines" (Blondel et al., 2016),
    after "Random Feature Maps for the Itemset Kernel" (Atarashi et al., 2019):

    .. math:: k_m(x, y) = \sum_{j_1 < \cdots < j_m} \prod_{t=1}^{m} x_{j_t} y_{j_t}, \quad
              \phi_k(x) = k_m(x, \omega_k) / \sqrt{D}

    with :math:`\omega_k \in \{-1, 1\}^d` uniform and :math:`m` the degree. Signs of distinct index sets are
    uncorrelated, so :math:`\phi(x) \cdot \phi(y)` is unbiased. :math:`k_m(x, \omega)` is the elementary symmetric
    polynomial :math:`e_m` of the signed coordinates :math:`x_j \omega_j`. A recurrence over coordinates would take
    :math:`m d` passes over the result; Newton's recurrence over the degree

    .. math:: t \, e_t = \sum_{i=1}^{t} (-1)^{i-1} e_{t-i} p_i, \quad p_i = \sum_j x_j^i \omega_j^i

    takes :math:`\lceil m / 2 \rceil` matrix products, because an even power has no sign left. It is evaluated in
    double precision, which absorbs its cancellation. For :math:`m > d` the kernel and the features are zero.

    Args:
        dim: The number of features :math:`D`.
        degree: :math:`m`.
        random_state: Seed.

    Attributes:
        signs_: :math:`\omega`, ``(d, D)``.
    """

    Settings = AnovaSettings

    def __init__(self, dim: int = 512, degree: int = 2, random_state: int = 0) -> None:
        self.dim = dim
        self.degree = degree
        self.random_state = random_state

    @classmethod
    def from_settings(cls, settings: AnovaSettings, **choice: Any) -> Self:
        return cls(settings.dim, settings.degree, settings.seed)

    def _draw(self, d: int) -> int:
        rng = np.random.default_rng(self.random_state)
        self.signs_ = 2.0 * rng.integers(0, 2, size=(d, self.dim)) - 1.0
        return self.dim

    def _features(self, rows: np.ndarray) -> np.ndarray:
        x = rows.astype(np.float64)
        if self.degree > x.shape[1]:
            return np.zeros((len(x), self.dim), dtype=np.float32)
        power_sums = [
            x**i @ self.signs_ if i % 2 else (x**i).sum(axis=1, keepdims=True) for i in range(1, self.degree + 1)
        ]
        symmetric = [np.ones((1, 1))]
        for t in range(1, self.degree + 1):
            terms = ((-1) ** (i - 1) * symmetric[t - i] * power_sums[i - 1] for i in range(1, t + 1))
            symmetric.append(sum(terms) / t)
        return (symmetric[-1] / np.sqrt(self.dim)).astype(np.float32)
