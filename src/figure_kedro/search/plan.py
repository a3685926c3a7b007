"""Which settings a search compares, round by round."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from figure_kedro.errors import UserError
from figure_kedro.parameters import Parameters

Changes = dict[str, Any]
"""Settings by their paths, as ``--params`` takes them."""

ALWAYS_DIRECTED = ("wikipedia", "filtered_wikipedia", "arxiv", "npz_archive")
"""Sources whose edges have a direction that may be kept or not."""


@dataclass(frozen=True)
class Tried:
    """Settings that were compared.

    Args:
        round: What was compared in this round.
        changes: The settings.
        score: The deciding metric on validation, mean over splits in percent; ``None`` if the settings failed.
        remark: Why they failed.
    """

    round: str
    changes: Changes
    score: float | None
    remark: str = ""


@dataclass
class Search:
    """A greedy search: in every round the alternatives of one question are compared, and the best one is kept.

    Questions about the graph come first and are asked of an encoder that is not trained, because that is quick and
    tells much the same; what learns the embeddings comes last.

    Args:
        parameters: What the search starts from.
        score: Scores settings on validation; a :class:`~figure_kedro.errors.UserError` is a failure of these alone.
        budget: How many settings are compared at the most.
        given: What is the same in all comparisons, by path: no other value of these is tried.
    """

    parameters: Parameters
    score: Callable[[Changes], float]
    budget: int
    given: Mapping[str, Any] = field(default_factory=dict)
    tried: list[Tried] = field(default_factory=list)

    def run(self) -> Iterator[Tried]:
        """Compare settings until all rounds are over or the budget is spent, and yield each as it is known."""
        chosen: Changes = {} if "representation.method" in self.given else {"representation.method": "untrained"}
        for title, alternatives in rounds(self.parameters):
            here: Tried | None = None
            for alternative in alternatives:
                changes = {**chosen, **alternative}
                if not self._possible(changes):
                    continue
                known = next((tried for tried in self.tried if tried.changes == changes), None)
                if known is None:
                    if len(self.tried) >= self.budget:
                        return
                    known = self._try(title, changes)
                    self.tried.append(known)
                    yield known
                if known.score is not None and (here is None or here.score is None or known.score > here.score):
                    here = known
            if here is not None:
                chosen = here.changes

    def _possible(self, changes: Changes) -> bool:
        if any(self.given.get(path, value) != value for path, value in changes.items()):
            return False
        if changes.get("filters.direction") == "both" and changes.get("filters.bank", "monomial") != "monomial":
            return False  # words are monomials
        directed = changes.get("source.directed", getattr(self.parameters.source, "directed", False))
        structural = changes.get("features.structural", self.parameters.features.structural)
        return bool(directed) or structural != "levels"  # which the direction of edges gives

    @property
    def best(self) -> Tried | None:
        """The first of the settings with the best score; ``None`` if all failed."""
        scored = [tried for tried in self.tried if tried.score is not None]
        return max(scored, key=lambda tried: tried.score or 0.0, default=None)

    def _try(self, title: str, changes: Changes) -> Tried:
        try:
            return Tried(title, changes, self.score(changes))
        except UserError as error:
            return Tried(title, changes, None, str(error))


def rounds(parameters: Parameters) -> list[tuple[str, list[Changes]]]:
    """The questions, each with its alternatives; the first one is how most people begin."""
    loops = [{"filters.self_loops": True}, {"filters.self_loops": False}]
    directions: list[Changes] = [{}]
    degrees: list[Changes] = [{}, {"features.structural": "degrees"}]
    if parameters.source.kind in ALWAYS_DIRECTED or getattr(parameters.source, "directed", False):
        kept = [{"source.directed": True, "filters.direction": way} for way in ("out", "in", "both")]
        ignored: Changes = {"filters.direction": "ignore"}
        if parameters.source.kind in ALWAYS_DIRECTED:
            directions = [{"source.directed": False}, *kept]
            ignored["source.directed"] = True
        else:  # the user's own edges, which they say are directed
            directions = [ignored, *kept]
        degrees.append({**degrees[1], **ignored})  # of both sides, beside filters that do not tell them apart
        if parameters.features.structural != "levels":
            degrees.append({"features.structural": "levels"})
    both = {"filters.bank": "monomial", "filters.size": 3}  # seven words
    graph = [
        {**direction, **loop, **(both if direction.get("filters.direction") == "both" else {})}
        for direction in directions
        for loop in loops
    ]
    names = ("monomial", "bernstein", "chebyshev")
    banks: list[Changes] = [{}, *({"filters.bank": name} for name in names if name != parameters.filters.bank)]
    banks.append({"filters.bank": "chebyshev", "filters.size": 6})  # larger ones of the others gained nothing anywhere
    scale = parameters.projection.scale
    scales: list[Changes] = [{}, *({"projection.scale": other} for other in ("none", "unit") if other != scale)]
    learners: list[Changes] = [
        {"representation.method": "untrained"},
        {"representation.method": "propagation"},
        {"representation.method": "figure", "representation.encoder.shared": True},
        {"representation.method": "figure_components"},
        {"representation.method": "figure", "representation.encoder.shared": False},
    ]
    return [
        ("direction and self-loops", graph),
        ("degrees and levels", degrees),
        ("filter bank", banks),
        ("scale of rows", scales),
        ("what learns", learners),
    ]


def nested(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by paths as groups.

    >>> nested({"filters.bank": "monomial", "dataset": "cora"})
    {'filters': {'bank': 'monomial'}, 'dataset': 'cora'}
    """
    groups: dict[str, Any] = {}
    for path, value in changes.items():
        *names, last = path.split(".")
        inner = groups
        for name in names:
            inner = inner.setdefault(name, {})
        inner[last] = value
    return groups
