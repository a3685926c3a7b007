"""Tuning as a user switches it on."""

import json
import sqlite3

SMALL = {
    "dataset": "csbm",
    "source": {"nodes": 80, "degree": 6},
    "representation": {
        "dim": 4,
        "training": {"max_epochs": 5, "threads": 1},
        "tuning": {"enabled": True, "trials": 4},
    },
}


def test_tuning_logs_nested_runs_and_trains_with_the_lowest_loss(session, tmp_path):
    session(["data_processing", "representation"], data_folder=str(tmp_path), **SMALL)
    (path,) = tmp_path.glob("06_models/csbm/*/tuned_representation.json")
    chosen = json.loads(path.read_text())["training"]["learning_rate"]
    with sqlite3.connect(tmp_path / "mlflow" / "mlflow.db") as database:
        rows = database.execute(
            "select p.value, m.value from tags t "
            "join params p on p.run_uuid = t.run_uuid and p.key = 'representation.training.learning_rate' "
            "join metrics m on m.run_uuid = t.run_uuid and m.key = 'lowest_loss' where t.key = 'mlflow.parentRunId'"
        ).fetchall()
    losses = {float(rate): loss for rate, loss in rows}
    assert 1e-3 in losses, "the given setting is tried"
    assert chosen == min(losses, key=losses.get)
    settings = json.loads((path.parent / "settings.json").read_text())
    assert settings["representation"]["training"]["learning_rate"] == chosen


def test_a_second_run_resumes_the_study_instead_of_searching_again(session, tmp_path, caplog):
    session(["data_processing", "representation"], data_folder=str(tmp_path), **SMALL)
    caplog.clear()
    session(["representation"], data_folder=str(tmp_path), **SMALL)
    assert "best of 3 trials" in caplog.text, "one of the four settings was drawn twice"
    assert "trial 0:" not in caplog.text
    assert "it is not repeated" in caplog.text
