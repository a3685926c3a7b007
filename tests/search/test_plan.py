"""Which settings a search compares, and which one it keeps."""

import pytest

from figure_kedro.cli import search as search_command
from figure_kedro.errors import UserError
from figure_kedro.parameters import check_parameters
from figure_kedro.search.plan import Search, rounds


def parameters(**source):
    return check_parameters({"dataset": "some", "source": source or {"kind": "csbm"}})


def test_every_round_keeps_its_best_and_the_next_one_starts_from_it():
    liked = {"filters.self_loops": False, "filters.bank": "bernstein", "projection.scale": "unit"}
    liked |= {"representation.method": "propagation"}
    search = Search(parameters(), lambda changes: sum(changes.get(path) == value for path, value in liked.items()), 50)
    list(search.run())
    assert search.best.changes == liked
    assert search.best.score == 4


def test_training_comes_last_and_untrained_encoders_answer_the_other_questions():
    search = Search(parameters(), lambda changes: 1.0, 50)
    *before, left_out, shared, components, independent = [tried.changes for tried in search.run()]
    assert {changes["representation.method"] for changes in before} == {"untrained"}
    assert left_out["representation.method"] == "propagation"
    assert components["representation.method"] == "figure_components"
    assert shared["representation.method"] == independent["representation.method"] == "figure"
    assert independent == {**shared, "representation.encoder.shared": False}
    assert shared["representation.encoder.shared"]


def test_the_default_budget_reaches_the_end_of_the_longest_search():
    search = Search(parameters(kind="wikipedia", name="squirrel"), lambda changes: 1.0, 100)
    default = next(option for option in search_command.params if option.name == "budget").default
    assert len(list(search.run())) <= default


@pytest.mark.parametrize("budget", [1, 3, 6])
def test_no_more_settings_are_compared_than_the_budget_allows(budget):
    search = Search(parameters(), lambda changes: 1.0, budget)
    assert len(list(search.run())) == budget


def test_the_best_of_all_that_was_compared_is_kept_though_the_budget_ends_within_a_round():
    search = Search(parameters(), lambda changes: changes["representation.method"] == "propagation", 50)
    number = next(at for at, tried in enumerate(search.run(), start=1) if tried.score)
    shorter = Search(search.parameters, search.score, number)
    list(shorter.run())
    assert shorter.best.changes["representation.method"] == "propagation"


def test_direction_is_asked_of_graphs_that_have_one():
    directed = {
        tried.get("filters.direction")
        for _, changes in rounds(parameters(kind="wikipedia", name="squirrel"))
        for tried in changes
    }
    assert {"out", "in", "both"} <= directed
    undirected = {tried.get("filters.direction") for _, changes in rounds(parameters()) for tried in changes}
    assert undirected == {None}


def test_degrees_of_both_sides_are_asked_of_graphs_that_have_a_direction():
    asked = [
        [tried.get("source.directed", False) for tried in dict(rounds(graph))["degrees and levels"][1:]]
        for graph in (parameters(), parameters(kind="wikipedia", name="squirrel"))
    ]
    assert asked == [[False], [False, True, False]]


def test_levels_are_asked_only_where_the_direction_is_kept():
    for kept in (True, False):
        graph = parameters(kind="npz_archive", labels="year")

        def score(changes, kept=kept):
            return 2.0 if changes.get("source.directed") is kept else 1.0

        search = Search(graph, score, 50)
        list(search.run())
        levels = [tried for tried in search.tried if tried.changes.get("features.structural") == "levels"]
        assert [tried.changes["source.directed"] for tried in levels] == [True] * kept


def test_what_is_given_is_the_same_in_all_comparisons():
    given = {"representation.method": "dgi", "filters.bank": "bernstein", "representation.dim": 8}
    search = Search(parameters(), lambda changes: 1.0, 50, given)
    list(search.run())
    assert search.tried
    for tried in search.tried:
        assert {path: tried.changes.get(path, value) for path, value in given.items()} == given


def test_nothing_is_compared_twice():
    for graph in (parameters(), parameters(kind="wikipedia", name="squirrel")):
        search = Search(graph, lambda changes: 1.0, 100)
        list(search.run())
        usual = {"filters.bank": graph.filters.bank, "filters.size": 4, "projection.scale": graph.projection.scale}
        usual |= {"features.structural": "auto"}
        effective = [repr(sorted({**usual, **tried.changes}.items())) for tried in search.tried]
        assert len(set(effective)) == len(effective)


def test_words_in_both_directions_are_compared_with_no_other_bank():
    def score(changes):
        return 2.0 if changes.get("filters.direction") == "both" else 1.0

    search = Search(parameters(kind="wikipedia", name="squirrel"), score, 50)
    list(search.run())
    banks = {
        tried.changes.get("filters.bank", "monomial")
        for tried in search.tried
        if tried.changes.get("filters.direction") == "both"
    }
    assert banks == {"monomial"}


def test_a_larger_bank_is_kept_where_it_is_better():
    search = Search(parameters(), lambda changes: changes.get("filters.size", 4), 50)
    list(search.run())
    assert search.best.changes["filters.bank"] == "chebyshev"
    assert search.best.changes["filters.size"] == 6


def test_settings_that_fail_are_kept_with_their_reason_and_stop_nothing():
    def score(changes):
        if changes.get("filters.bank") == "chebyshev":
            raise UserError("does not converge")
        return 1.0

    search = Search(parameters(), score, 50)
    failed = [tried for tried in search.run() if tried.score is None]
    assert [tried.remark for tried in failed] == ["does not converge"] * 2, "of four and of six filters"
    assert search.best is not None
