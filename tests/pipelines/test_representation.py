"""The nodes of representation, and their wiring."""

import numpy as np
import pytest

from figure_kedro.datasets.files.tensor_file import CheckpointFile
from figure_kedro.datasets.handles import TuningDataset
from figure_kedro.estimator import Representation
from figure_kedro.methods.kinds.figure import FigureSettings
from figure_kedro.methods.kinds.propagation import PropagationSettings
from figure_kedro.pipelines.representation import create_pipeline, nodes


@pytest.fixture
def tuning(tmp_path):
    return TuningDataset(filepath=str(tmp_path / "journal"), winner=str(tmp_path / "checkpoint")).load()


@pytest.fixture
def trained(monkeypatch):
    """The learning rates of all trainings, in their order."""
    rates, original = [], Representation.fit

    def fit(self, *arguments, **rest):
        rates.append(self.settings.training.learning_rate)
        return original(self, *arguments, **rest)

    monkeypatch.setattr(Representation, "fit", fit)
    return rates


@pytest.mark.parametrize("settings", [FigureSettings(dim=3), PropagationSettings()])
def test_settings_stay_as_they_are_without_tuning(problem, operator, blocks, settings, tuning, tmp_path):
    assert nodes.tune_representation(problem, operator, settings, tuning, blocks) is settings
    assert list(tmp_path.iterdir()) == [], "and no empty journal is left"


def test_tuning_takes_the_lowest_training_loss_of_the_methods_own_ranges(problem, operator, blocks, settings, tuning):
    search = settings.changed({"tuning.enabled": True, "tuning.trials": 6})
    chosen = nodes.tune_representation(problem, operator, search, tuning, blocks)
    assert chosen.training.learning_rate in FigureSettings.ranges["training.learning_rate"]
    assert blocks.cleared >= 1

    def lowest(rate):
        fitted, _, _ = nodes.train_encoder(
            problem, operator, search.changed({"training.learning_rate": rate}), None, blocks
        )
        return fitted.record_.best_loss

    assert lowest(chosen.training.learning_rate) <= lowest(1e-5)


def test_the_winner_of_tuning_is_not_trained_a_second_time(problem, operator, blocks, settings, tuning, tmp_path):
    search = settings.changed({"tuning.enabled": True, "tuning.trials": 6})
    chosen = nodes.tune_representation(problem, operator, search, tuning, blocks)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint", "journal"]
    before = (tmp_path / "checkpoint").read_bytes()
    fitted, curve, _ = nodes.train_encoder(problem, operator, chosen, CheckpointFile(tmp_path / "checkpoint"), blocks)
    assert (tmp_path / "checkpoint").read_bytes() == before, "not an epoch was added"
    anew, expected, _ = nodes.train_encoder(problem, operator, chosen, None, blocks)
    assert curve["loss"].tolist() == expected["loss"].tolist()
    for (name, ours), theirs in zip(fitted.model_.named_parameters(), anew.model_.parameters(), strict=True):
        assert (ours == theirs).all(), name


def test_a_search_that_is_killed_resumes_its_training_and_keeps_the_winner(
    problem, operator, blocks, settings, tuning, tmp_path, trained, monkeypatch
):
    search = settings.changed({"tuning.enabled": True, "tuning.trials": 6, "training.checkpoint_seconds": 1e-9})
    whole = TuningDataset(filepath=str(tmp_path / "w" / "journal"), winner=str(tmp_path / "w" / "checkpoint")).load()
    chosen = nodes.tune_representation(problem, operator, search, whole, blocks)
    undisturbed = trained.copy()
    for killed in range(1, len(undisturbed)):
        folder, epochs = tmp_path / str(killed), []
        handle = TuningDataset(filepath=str(folder / "journal"), winner=str(folder / "checkpoint"))
        save, trained[:] = CheckpointFile.save, []

        def dies(self, *content, save=save, killed=killed, epochs=epochs):
            save(self, *content)
            epochs.append(len(content[1]["record"]["losses"]))
            if len(trained) == killed + 1 and epochs[-1] == 3:
                raise KeyboardInterrupt

        monkeypatch.setattr(CheckpointFile, "save", dies)
        with pytest.raises(KeyboardInterrupt):
            nodes.tune_representation(problem, operator, search, handle.load(), blocks)
        monkeypatch.setattr(CheckpointFile, "save", save)
        assert nodes.tune_representation(problem, operator, search, handle.load(), blocks) == chosen
        assert trained == [*undisturbed[: killed + 1], *undisturbed[killed:]], "only the last one is begun again"
        winners = [CheckpointFile(place / "checkpoint").load() for place in (folder, tmp_path / "w")]
        assert winners[0][1]["record"]["losses"] == winners[1][1]["record"]["losses"]
        assert all((winners[0][0][name] == tensor).all() for name, tensor in winners[1][0].items())


def test_training_gives_a_fitted_method_its_curve_and_its_times(problem, operator, settings, blocks, tmp_path):
    checkpoint = CheckpointFile(tmp_path / "checkpoint")
    fitted, curve, timing = nodes.train_encoder(problem, operator, settings, checkpoint, blocks)
    assert fitted.settings == settings
    assert curve["loss"].tolist() == fitted.record_.losses
    assert (timing["epochs"], len(curve)) == (5, 5)
    again, _, _ = nodes.train_encoder(problem, operator, settings, checkpoint, blocks)
    assert again.record_.seconds == fitted.record_.seconds, "a finished training is not repeated"


def test_blocks_are_cleared_after_training_from_them(problem, operator, settings, blocks):
    nodes.train_encoder(problem, operator, settings.changed({"strategy": "decoupled"}), None, blocks)
    assert "true_1" in blocks.made
    assert blocks.cleared == 1


def test_embeddings_have_every_view_in_the_order_of_the_bank(problem, operator, encoder):
    embeddings = nodes.embed_nodes(problem, operator, encoder)
    assert list(embeddings) == ["I", "A", "A^2"]
    np.testing.assert_array_equal(embeddings["A"], encoder.transform(problem)["A"])
    np.testing.assert_array_equal(embeddings.ids, problem.ids)


def test_pipeline_needs_the_graph_and_its_operator():
    handles = {"tuning", "checkpoint", "propagated_blocks"}
    assert create_pipeline().inputs() == {"graph", "operator", "params:representation", *handles}
