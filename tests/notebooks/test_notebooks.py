"""The notebooks run from top to bottom, and show what came out when they were written."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_from_top_to_bottom(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    place = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place).execute()
    outputs = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    assert outputs[-1], "the last cell shows something"
    assert all(output.output_type != "error" for cell in outputs for output in cell)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_keeps_its_results_and_a_picture_and_no_path_of_a_machine(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert notebook.cells[-1].get("outputs") or notebook.cells[-2].outputs
    shown = " ".join(str(output.get("text", output.get("data"))) for output in outputs)
    assert not re.search(r"site-packages|/home/|/root/|C:\\\\", shown)
