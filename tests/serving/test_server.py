"""MLflow's server with the packaged model, in this process."""

import socket
import threading
import time

import pytest
import uvicorn
from mlflow.pyfunc.scoring_server import init

from packaged_model import post

COLUMNS = ["id", "neighbours", "height", "width", "depth"]
NODE = [100, [0, 3], 1.0, 2.0, 0.5]


@pytest.fixture(scope="module")
def port(packaged):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(init(packaged[-1]), host="127.0.0.1", port=number, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 60
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.02)
    yield number
    server.should_exit = True
    thread.join(timeout=30)


def body(columns=COLUMNS, rows=(NODE,), **rest):
    return {"dataframe_split": {"columns": list(columns), "data": list(rows)}, **rest}


def test_a_request_is_answered_with_classes_and_probabilities(port):
    status, answer = post(port, body())
    assert status == 200
    (row,) = answer["predictions"]
    assert row["id"] == 100
    assert row["p_no"] + row["p_yes"] == pytest.approx(1)
    status, answer = post(port, body(params={"embeddings": True}))
    assert len(answer["predictions"][0]["embedding_A^2"]) == 4


@pytest.mark.parametrize(
    ("columns", "rows", "line"),
    [
        (["id", "neighbours", "height", "width"], [NODE[:4]], "the request has no column 'depth'"),
        ([*COLUMNS[:-1], "dept"], [NODE], "the request has no column 'depth'"),
        (["name", *COLUMNS[1:]], [NODE], "the request has no column 'id'"),
        (COLUMNS, [[100, [77], 1.0, 2.0, 0.5]], "there is no node '77'"),
        (COLUMNS, [[5, [0], 1.0, 2.0, 0.5]], "node '5' is in ring already"),
    ],
)
def test_a_wrong_request_is_answered_by_one_line_and_the_server_lives_on(columns, rows, line, port):
    status, answer = post(port, body(columns, rows))
    assert status == 400
    assert line in answer["message"]
    assert "\n" not in answer["message"]
    assert post(port, body())[0] == 200


@pytest.mark.parametrize("wrong", [b"{", b"{}", b'{"dataframe_split": 3}', b'{"inputs": "x"}'])
def test_what_is_no_request_at_all_does_not_stop_the_server(wrong, port):
    assert post(port, wrong)[0] == 400
    assert post(port, body())[0] == 200
