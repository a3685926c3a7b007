"""Tables that pages are made of."""

import pytest

from figure_kedro.experiments.table import Shown
from report_tables import HOSTILE, accuracy, table


@pytest.fixture
def against_paper():
    return table({("FiGURe", "cora"): accuracy(87.2, paper=87.0, paper_deviation=1.24, command="kedro run")})


@pytest.fixture
def ranked():
    return table({(name, "cora"): accuracy(value) for name, value in (("a", 80.0), ("b", 90.0), ("c", 70.0))})


@pytest.fixture
def hostile():
    cells = {
        (HOSTILE, HOSTILE): accuracy(1.0, beside=HOSTILE, command=HOSTILE, run_id=HOSTILE, version=HOSTILE),
        (HOSTILE, "words"): Shown("done", text=HOSTILE, data_checksum=HOSTILE, date=HOSTILE),
        (HOSTILE, "failed"): Shown("failed", text=HOSTILE, command=HOSTILE),
        (HOSTILE, "time"): Shown("done", 1.0, unit=HOSTILE),
        (HOSTILE, "missing"): Shown("missing", text=HOSTILE),
    }
    return table(cells, name=HOSTILE, title=HOSTILE, caption=HOSTILE, notes=(HOSTILE,))
