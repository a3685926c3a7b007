"""Raw files are checked before use and are there whole or not at all."""

import contextlib
import functools
import hashlib
import http.server
import pickle
import threading

import pytest

from figure_kedro.datasets.sources.checksums import checksum_like, published_checksums
from figure_kedro.datasets.sources.raw_files import NoRawFileError, RawFiles
from figure_kedro.errors import UserError

CONTENT = b"1,2\n2,3\n"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
GIT_SHA1 = "git-sha1:" + hashlib.sha1(b"blob 8\0" + CONTENT).hexdigest()
PATH = "cora/raw/edges.txt"
NOWHERE = "http://127.0.0.1:9/edges.txt"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "01_raw"


@pytest.fixture
def filled_mirror(tmp_path):
    file = tmp_path / "mirror" / PATH
    file.parent.mkdir(parents=True)
    file.write_bytes(CONTENT)
    return tmp_path / "mirror"


def files_below(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@contextlib.contextmanager
def serve(handler):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


class EndsEarly(Quiet):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(CONTENT)


def test_mirror_file_is_copied_to_the_same_relative_path(folder, filled_mirror):
    path = RawFiles(folder, filled_mirror).get(PATH, NOWHERE, SHA256)
    assert path == folder / PATH
    assert path.read_bytes() == CONTENT
    assert files_below(folder) == [PATH]


def test_file_in_the_folder_needs_neither_mirror_nor_network(folder, filled_mirror):
    RawFiles(folder, filled_mirror).get(PATH, NOWHERE, SHA256)
    assert RawFiles(folder, None).get(PATH, NOWHERE, SHA256).read_bytes() == CONTENT


def test_why_a_file_cannot_be_had_is_also_said_without_a_folder_of_this_machine(folder, filled_mirror):
    with pytest.raises(NoRawFileError) as caught:
        RawFiles(folder, filled_mirror).get("cora/raw/nodes.txt", NOWHERE, None)
    (why,) = {caught.value.why, pickle.loads(pickle.dumps(caught.value)).why}
    assert why.startswith(f"cora/raw/nodes.txt could not be had where this was measured, fetching {NOWHERE} failed: ")
    assert "Connection refused" in why
    assert why.partition("measured, ")[2] in str(caught.value)
    assert str(folder) not in why


def test_tampered_mirror_file_is_refused_and_nothing_is_left(folder, filled_mirror):
    (filled_mirror / PATH).write_bytes(b"tampered")
    found = hashlib.sha256(b"tampered").hexdigest()
    with pytest.raises(UserError) as caught:
        RawFiles(folder, filled_mirror).get(PATH, NOWHERE, SHA256)
    message = str(caught.value)
    assert str(filled_mirror / PATH) in message
    assert SHA256[:12] in message
    assert found[:12] in message
    assert files_below(folder) == []


def test_damaged_file_in_the_folder_is_replaced(folder, filled_mirror):
    raw = RawFiles(folder, filled_mirror)
    raw.get(PATH, NOWHERE, SHA256).write_bytes(b"damaged")
    assert raw.get(PATH, NOWHERE, SHA256).read_bytes() == CONTENT


@pytest.mark.parametrize(("damaged", "word"), [(False, "missing"), (True, "damaged")])
def test_file_that_is_nowhere_is_one_line_with_both_ways_to_provide_it(folder, damaged, word):
    if damaged:
        (folder / PATH).parent.mkdir(parents=True)
        (folder / PATH).write_bytes(b"damaged")
    with pytest.raises(UserError) as caught:
        RawFiles(folder, None).get(PATH, NOWHERE, SHA256)
    message = str(caught.value)
    assert f"{PATH} is {word}" in message
    assert "raw_mirror" in message
    assert "FIGURE_RAW_MIRROR" in message
    assert "connect to the network" in message
    assert "\n" not in message


def test_download_is_checked_and_moved_whole(folder, filled_mirror):
    with serve(functools.partial(Quiet, directory=filled_mirror)) as address:
        path = RawFiles(folder, None).get(PATH, f"{address}/{PATH}", SHA256)
        assert path.read_bytes() == CONTENT
        assert files_below(folder) == [PATH]


def test_download_with_another_checksum_is_refused_and_nothing_is_left(folder, filled_mirror):
    (filled_mirror / PATH).write_bytes(b"tampered")
    with (
        serve(functools.partial(Quiet, directory=filled_mirror)) as address,
        pytest.raises(UserError, match="not the published"),
    ):
        RawFiles(folder, None).get(PATH, f"{address}/{PATH}", SHA256)
    assert files_below(folder) == []


@pytest.mark.parametrize("checksum", [SHA256, None])
def test_download_that_ends_early_leaves_nothing(folder, checksum):
    with serve(EndsEarly) as address, pytest.raises(UserError, match="8 of 1000 bytes"):
        RawFiles(folder, None).get(PATH, f"{address}/{PATH}", checksum)
    assert files_below(folder) == []


def test_address_that_is_not_there_is_named(folder, filled_mirror):
    with serve(functools.partial(Quiet, directory=filled_mirror)) as address, pytest.raises(UserError, match="404"):
        RawFiles(folder, None).get(PATH, f"{address}/other.txt", SHA256)


def test_git_checksum_is_that_of_a_blob(folder, filled_mirror):
    assert checksum_like(filled_mirror / PATH, GIT_SHA1) == GIT_SHA1
    assert RawFiles(folder, filled_mirror).get(PATH, NOWHERE, GIT_SHA1).read_bytes() == CONTENT
    (filled_mirror / PATH).write_bytes(b"tampered")
    with pytest.raises(UserError, match="git-sha1:"):
        RawFiles(folder / "other", filled_mirror).get(PATH, NOWHERE, GIT_SHA1)


def test_without_a_published_checksum_the_first_content_holds(folder, filled_mirror):
    raw = RawFiles(folder, filled_mirror)
    raw.get(PATH, NOWHERE, None)
    assert (folder / f"{PATH}.sha256").read_text().strip() == SHA256
    (folder / PATH).unlink()
    (filled_mirror / PATH).write_bytes(b"changed")
    with pytest.raises(UserError, match=r"edges\.txt\.sha256"):
        raw.get(PATH, NOWHERE, None)
    assert files_below(folder) == [f"{PATH}.sha256"]


def test_every_pickled_raw_file_has_a_sha256():
    pickled = {path: value for path, value in published_checksums().items() if "/ind." in path}
    assert len(pickled) == 24
    assert all(len(value) == 64 and int(value, 16) for value in pickled.values())


def test_a_data_set_with_a_file_outside_the_table_is_refused(folder, filled_mirror):
    with pytest.raises(KeyError):
        RawFiles(folder, filled_mirror).get_all({PATH: NOWHERE})
