"""Documents of tables of all kinds compile."""

import math
import shutil
import subprocess

import pytest

from figure_kedro.experiments.pages import latex_document
from figure_kedro.experiments.table import Shown, Table
from report_tables import PIXEL, accuracy, table


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
class TestCompiled:
    @staticmethod
    def compile(text, folder):
        (folder / "page.tex").write_text(text, encoding="utf-8")
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "page.tex"]
        done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120)
        output = done.stdout.decode("utf-8", "replace")
        assert done.returncode == 0, output[-2000:]
        return output

    def test_hostile_tables_and_all_kinds_of_cells_compile(self, hostile, against_paper, ranked, tmp_path):
        (tmp_path / "a_1.png").write_bytes(PIXEL)
        pictures = table({("[a", "*b"): Shown("stale", picture=PIXEL), ("*c", "*b"): Shown("done", picture=PIXEL)})
        letters = (
            "".join(map(chr, range(0x20, 0x250))) + "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ中😀\u2013\u201c\u2026\u20ac"
        )
        unicode = table({(letters, "b"): accuracy(-1.0, paper=math.inf)})
        document = latex_document([hostile, against_paper, ranked, pictures, unicode], lambda *_: "a_1.png")
        assert "5 pages" in self.compile(document, tmp_path)

    def test_wide_and_high_tables_fit_the_page(self, tmp_path):
        cells = {(f"row {i}", f"a column {j}"): accuracy(i + j, paper=1.0) for i in range(40) for j in range(15)}
        output = self.compile(latex_document([table(cells)]), tmp_path)
        assert "Overfull" not in output
        assert "Float too large" not in output

    @pytest.mark.parametrize("tables", [[], [Table("t", "T", (), (), {})]])
    def test_a_document_of_nothing_compiles(self, tables, tmp_path):
        assert "Fatal error" not in self.compile(latex_document(tables), tmp_path)
