"""The nodes of representation, and their wiring."""

import numpy as np
import pytest
from optuna.storages import InMemoryStorage

from figure_kedro.datasets.files.tensor_file import CheckpointFile
from figure_kedro.methods.kinds.figure import FigureSettings
from figure_kedro.methods.kinds.propagation import PropagationSettings
from figure_kedro.pipelines.representation import create_pipeline, nodes


def tuned(problem, operator, settings, blocks):
    return nodes.tune_representation(problem, operator, settings, InMemoryStorage(), blocks)


@pytest.mark.parametrize("settings", [FigureSettings(dim=3), PropagationSettings()])
def test_settings_stay_as_they_are_without_tuning(problem, operator, blocks, settings):
    assert tuned(problem, operator, settings, blocks) is settings


def test_tuning_takes_the_lowest_training_loss_of_the_methods_own_ranges(problem, operator, blocks, settings):
    search = settings.changed({"tuning.enabled": True, "tuning.trials": 6})
    chosen = tuned(problem, operator, search, blocks)
    assert chosen.training.learning_rate in FigureSettings.ranges["training.learning_rate"]
    assert blocks.cleared >= 1

    def lowest(rate):
        fitted, _, _ = nodes.train_encoder(
            problem, operator, search.changed({"training.learning_rate": rate}), None, blocks
        )
        return fitted.record_.best_loss

    assert lowest(chosen.training.learning_rate) <= lowest(1e-5)


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
    handles = {"tuning_journal", "checkpoint", "propagated_blocks"}
    assert create_pipeline().inputs() == {"graph", "operator", "params:representation", *handles}
