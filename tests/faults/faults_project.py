"""What several tests of faults share."""

from pathlib import Path

import pytest

from figure_kedro.errors import UserError

PROJECT = Path(__file__).parents[2]


def one_line(function, *args, **kwargs):
    """The one line in which a call ends."""
    with pytest.raises(UserError) as error:
        function(*args, **kwargs)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 600
    return str(error.value)
