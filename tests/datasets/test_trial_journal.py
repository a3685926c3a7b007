"""The journal of trials: whole lines count, up to the first that is not what was written."""

import os

import pytest

from figure_kedro.datasets.files.trial_journal import TrialJournal

LOGS = [{"op_code": 0, "study_name": "a"}, {"op_code": 4, "value": 0.1 + 0.2, "steps": {1: 2.5}}, {"op_code": 4}]
READ = [LOGS[0], {**LOGS[1], "steps": {"1": 2.5}}, LOGS[2]]


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "folder" / "journal"
    for log in LOGS:
        TrialJournal(file).append_logs([log])
    return file


def test_what_is_written_is_read_from_any_line_on(path):
    journal = TrialJournal(path)
    assert journal.read_logs(0) == READ
    assert journal.read_logs(2) == READ[2:]
    TrialJournal(path).append_logs([{"op_code": 9}])
    assert journal.read_logs(3) == [{"op_code": 9}]


def test_no_file_is_made_before_there_is_something_to_write(tmp_path):
    assert TrialJournal(tmp_path / "journal").read_logs(0) == []
    assert list(tmp_path.iterdir()) == []


def test_after_a_cut_at_any_byte_the_whole_lines_are_read_and_the_rest_is_written_again(path):
    content = path.read_bytes()
    for size in range(len(content)):
        path.write_bytes(content[:size])
        whole = content[:size].count(b"\n")
        journal = TrialJournal(path)
        assert journal.read_logs(0) == READ[:whole]
        journal.append_logs(LOGS[whole:])
        assert path.read_bytes() == content


def test_a_changed_byte_anywhere_drops_its_line_and_all_that_follow(path):
    content = path.read_bytes()
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        whole = content[:place].count(b"\n")
        assert TrialJournal(path).read_logs(0) == READ[:whole], place


def test_a_full_disk_leaves_the_whole_lines(path, monkeypatch):
    content = path.read_bytes()

    class Full:
        """A stream on a disk with five bytes left."""

        def __init__(self, stream):
            self.stream = stream

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self.stream.close()

        def write(self, data):
            return self.stream.write(data[:5])

        def __getattr__(self, name):
            return getattr(self.stream, name)

    real = open
    monkeypatch.setattr("builtins.open", lambda file, *of, **rest: Full(real(file, *of, **rest)))
    with pytest.raises(OSError, match="disk full"):
        TrialJournal(path).append_logs([{"op_code": 1}])
    monkeypatch.undo()
    assert path.read_bytes() == content
    assert os.listdir(path.parent) == ["journal"]
