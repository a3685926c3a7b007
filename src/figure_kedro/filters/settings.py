"""Which filters a run uses."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from figure_kedro.errors import nearest
from figure_kedro.filters.bank import FilterBank
from figure_kedro.filters.banks import bank_names, build_bank


def _known(name: str) -> str:
    if name not in bank_names():
        raise ValueError(f"there is no filter bank {name!r}; {nearest(name, bank_names())}")
    return name


class FilterSettings(BaseModel):
    """The filter bank and the operator that it is a polynomial of."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    bank: Annotated[str, AfterValidator(_known)] = Field("monomial", description="a file of filters/banks")
    size: int = Field(4, ge=1, le=64, description="number of filters K, the identity included")
    self_loops: bool = Field(True, description="whether the operator is D^-1/2 (A + I) D^-1/2 or without I")

    def build(self) -> FilterBank:
        return build_bank(self.bank, self.size)
