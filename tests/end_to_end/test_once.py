"""In one run everything is computed once."""

import pytest

from figure_kedro.datasets.graph_dataset import GraphDataset, OperatorDataset, TargetsDataset
from figure_kedro.datasets.representation_dataset import RepresentationDataset
from figure_kedro.graph import graph as graph_module
from figure_kedro.methods.encoder import FigureModel
from figure_kedro.methods.kinds.figure import Figure

SMALL = {
    "dataset": "csbm",
    "source": {"nodes": 120},
    "representation": {"dim": 4, "training": {"max_epochs": 3, "threads": 1}},
    "projection": {"map": "fourier", "dim": 8},
    "evaluation": {"trials": 2, "splits": 2},
}


@pytest.fixture
def counts(monkeypatch):
    """How often things happen, by name."""
    seen = {}

    def count(name, owner, function):
        original = getattr(owner, function)

        def counted(*args, **kwargs):
            seen[name] = seen.get(name, 0) + 1
            return original(*args, **kwargs)

        monkeypatch.setattr(owner, function, counted)

    count("graph checked", graph_module, "check_graph")
    count("graph read", GraphDataset, "read")
    count("targets read", TargetsDataset, "read")
    count("operator read", OperatorDataset, "read")
    count("encoder read", RepresentationDataset, "read")
    count("method built", Figure, "__init__")
    count("encoder built", FigureModel, "__init__")
    count("all views embedded", FigureModel, "embed")
    return seen


@pytest.mark.parametrize("embeddings", ["auto", "never"])
def test_a_whole_run_checks_reads_builds_and_embeds_once(session, tmp_path, counts, embeddings):
    representation = SMALL["representation"] | {"embeddings": embeddings}
    session(["__default__"], data_folder=str(tmp_path), **{**SMALL, "representation": representation})
    assert counts == {
        "graph checked": 1,
        "graph read": 1,
        "targets read": 1,
        "operator read": 1,
        "method built": 1,
        "encoder built": 1,
        "all views embedded": 1,
    }
    kept = list(tmp_path.glob("07_model_output/csbm/*/*embeddings*"))
    assert len(kept) == (embeddings == "auto"), "what is not kept is gone after the run"


def test_a_later_evaluation_of_kept_embeddings_needs_no_graph_and_no_encoder_to_embed(session, tmp_path, counts):
    session(["representation"], data_folder=str(tmp_path), **SMALL)
    counts.clear()
    session(["projection"], data_folder=str(tmp_path), **SMALL)
    assert counts == {}
    session(["evaluation"], data_folder=str(tmp_path), **SMALL)
    assert "graph read" not in counts
    assert "all views embedded" not in counts
