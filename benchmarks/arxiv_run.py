"""A whole run on arXiv's graph at 512 dimensions with 40 classes: anonymous memory and seconds of every step."""

import tempfile

import pandas as pd

from benchmarks.report import Rows
from benchmarks.settings import Settings
from benchmarks.whole_run import kedro_run

NOTE = """
`kedro run` on the citations of 169,343 papers with 40 subjects, without direction: 128 singular vectors as features,
FiGURe at 512 dimensions, five epochs, OGB's split with its 90,941 training nodes, four trials, one thread, all in a
new folder. `memory` is what the run may take; arrays above a sixteenth of it lie in files.

- peak GiB: the most anonymous memory of the process (`RssAnon`, looked at twenty times a second), with all imports.
- of the limit: the peak over `memory`.
- seconds: of the processor; clock s: what a person waits.

More epochs and trials take longer and not more memory. Steps that take less than a second are left out.
"""

LIMITS = (6.0,)
"""GiB that the run may take."""

ARXIV = {"dataset": "arxiv_no_features", "source.labels": "subject", "source.directed": "false"}
SMALL = {"dataset": "csbm", "source.nodes": 2000, "source.splits": 1}


def run(settings: Settings) -> pd.DataFrame:
    """Measure every limit."""
    rows = Rows()
    for limit in LIMITS:
        params = SMALL if settings.small else ARXIV
        with tempfile.TemporaryDirectory() as folder:
            asked = {
                "data_folder": folder,
                "memory": limit,
                "representation.dim": 512,
                "representation.training.max_epochs": 5,
                "representation.training.threads": 1,
                "evaluation.trials": 4,
                "evaluation.threads": 1,
            }
            for step in kedro_run(params | asked):
                if step.seconds >= 1:
                    row = {"memory GiB": limit, "step": step.name, "peak GiB": step.peak}
                    rows.add(row | {"of the limit": step.peak / limit, "seconds": step.seconds, "clock s": step.clock})
    return rows.frame()
