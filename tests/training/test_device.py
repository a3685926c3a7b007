import os

import pytest
import torch

from figure_kedro.errors import UserError
from figure_kedro.training.device import PeakMemory, available_memory, pick_device

pytestmark = pytest.mark.usefixtures("one_thread")

CPU = torch.device("cpu")


def test_auto_takes_the_cpu_where_there_is_nothing_else(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert pick_device("auto") == CPU


def test_auto_takes_cuda_where_there_is_one(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert pick_device("auto").type == "cuda"


@pytest.mark.parametrize("name", ["cuda:1", "cuda:7"])
def test_missing_cuda_device_is_named(name, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(UserError, match=f"no device '{name}'"):
        pick_device(name)


def test_auto_takes_mps_before_the_cpu_for_work_without_sparse_products(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert pick_device("auto", sparse_products=False).type == "mps"
    assert pick_device("auto") == CPU


def test_missing_mps_device_is_named(monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    with pytest.raises(UserError, match="no device 'mps'"):
        pick_device("mps")


def test_available_memory_is_within_the_memory_of_the_machine():
    assert 0 < available_memory(CPU) <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def test_peak_memory_sees_an_array_that_is_gone_again():
    peak = PeakMemory(CPU)
    before = peak.megabytes()
    torch.ones(256 * 2**20 // 4).sum()
    assert before > 0
    assert peak.megabytes() > before + 200
