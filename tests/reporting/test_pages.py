"""Pages of tables: what they show, and that nothing in a table breaks them."""

import base64
import csv
import io
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from figure_kedro.experiments.pages import csv_text, html_page, latex_document, markdown_page
from figure_kedro.experiments.table import Shown, Table
from report_tables import HOSTILE, PIXEL, accuracy, table

VOID = {"meta", "img", "br"}


class Page(HTMLParser):
    """Collects what a browser would see: elements with attributes and text, and whether tags are balanced."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.unbalanced = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        element = {"tag": tag, "text": "", **dict(attributes)}
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag):
        if self.open and self.open[-1]["tag"] == tag:
            self.open.pop()
        else:
            self.unbalanced.append(tag)

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def all(self, tag, **attributes):
        wanted = {key.strip("_"): value for key, value in attributes.items()}
        return [e for e in self.elements if e["tag"] == tag and all(e.get(k) == v for k, v in wanted.items())]


def page(*tables, title="Results"):
    return Page(html_page(tables, title))


def body_cells(*tables):
    return [cell for cell in page(*tables).all("td") if "class" in cell]


def markdown_cells(text):
    """Cells of all lines of the first table, split at pipes that are not escaped."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


class TestEscaping:
    def test_hostile_texts_are_only_text_in_html(self, hostile):
        seen = page(hostile, hostile, title=HOSTILE)
        assert not seen.unbalanced
        assert not seen.open
        assert not seen.all("script")
        assert not seen.all("b")
        assert [heading["text"] for heading in seen.all("h1") + seen.all("h2")] == [HOSTILE] * 3
        assert seen.all("code")[0]["text"] == HOSTILE
        assert len(seen.all("tr")) == 4
        assert all(
            set(e) <= {"tag", "text", "id", "class", "title", "type", "popovertarget"} for e in seen.all("button")
        )

    def test_hostile_texts_are_only_text_in_markdown(self, hostile):
        seen = Page(MarkdownIt("commonmark").enable("table").render(markdown_page([hostile], HOSTILE)))
        assert not seen.unbalanced
        assert not {"script", "b", "em", "strong", "a", "blockquote", "h3"} & {e["tag"] for e in seen.elements}
        assert [heading["text"] for heading in seen.all("h1") + seen.all("h2")] == [HOSTILE]
        assert [e["text"] for e in seen.all("th")][:2] == ["", HOSTILE]
        assert len(seen.all("td")) == 6
        assert seen.all("td")[0]["text"] == HOSTILE
        assert seen.all("code")[0]["text"] == HOSTILE
        assert seen.all("li")[0]["text"].strip() == HOSTILE

    def test_markdown_code_keeps_backticks_inside(self):
        text = markdown_page([table({("a", "b"): accuracy(1.0, command="echo `date` ``x``")})], "t")
        assert "``` echo `date` ``x`` ```" in text

    @pytest.mark.parametrize("start", ["# a", "- a", "+ a", "1. a", "> a", "--- a", "| a"])
    def test_note_cannot_begin_another_block_in_markdown(self, start):
        line = markdown_page([table({("a", "b"): accuracy(1.0)}, notes=(start,))], "t").split("\n- ")[1]
        assert re.match(r"\\|1\\", line)

    def test_latex_specials_are_escaped_and_braces_balance(self, hostile):
        text = latex_document([hostile])
        bare = re.sub(r"\\[\\{}]", "", text)
        assert bare.count("{") == bare.count("}")
        body = text.split(r"\begin{document}")[1]
        assert r"50\% \$x\$ \#1 a\_b \{c\} \textasciitilde{}d \textasciicircum{}e \textbackslash{}f {[}g{]}" in body
        assert "alert" in body
        assert not re.search(r"(?<!\\)[%#_~]", body.replace(r"}~", "}"))

    def test_latex_lines_have_as_many_cells_as_the_head(self, hostile):
        body = latex_document([hostile]).split(r"\midrule")[1].split(r"\bottomrule")[0]
        (line,) = [line for line in body.splitlines() if line]
        assert len(re.findall(r"(?<!\\)&", line)) == 5

    def test_latex_names_a_character_that_its_fonts_lack(self):
        text = latex_document([table({("λ ≥ 中", "b"): accuracy(1.0)})])
        assert r"$\lambda$ $\geq$ {[}U+4E2D{]}" in text

    def test_csv_reads_back_what_was_there(self, hostile):
        first, second = 'a,"b"\nc', "d\re"
        other = table({(first, second): accuracy(1.0)})
        lines = list(csv.DictReader(io.StringIO(csv_text([hostile, other]), newline="")))
        assert len(lines) == 6
        assert all(None not in line and None not in line.values() for line in lines)
        assert {lines[0][name] for name in ("table", "row", "column", "beside", "command", "run_id")} == {HOSTILE}
        assert (lines[-1]["row"], lines[-1]["column"]) == (first, "d\ne")


class TestNumbers:
    """Ours 87.20 ± 1.24 and the paper's 87.00 ± 1.24 over 10 splits: 1.24 * sqrt(1 / 10 + 1 / 9) = 0.5697."""

    def test_html_has_ours_the_paper_and_the_difference(self, against_paper):
        seen = page(against_paper)
        assert seen.all("button")[0]["text"] == "87.20 ± 1.24"
        assert [line["text"] for line in seen.all("span", class_="small")] == ["paper 87.00 ± 1.24", "+0.20 ± 0.57"]

    def test_markdown_has_them(self, against_paper):
        cell = markdown_cells(markdown_page([against_paper], "t"))[2][1]
        assert cell == "87.20 (1.24)<sup>1</sup><br>paper 87.00 (1.24), +0.20 ± 0.57"

    def test_latex_has_them(self, against_paper):
        text = latex_document([against_paper])
        assert r"87.20 $\pm$ 1.24 \\ \below{paper 87.00 $\pm$ 1.24} \\ \below{+0.20 $\pm$ 0.57}" in text

    def test_csv_has_them_unrounded(self, against_paper):
        (line,) = csv.DictReader(io.StringIO(csv_text([against_paper])))
        assert (line["value"], line["paper"], line["difference"]) == ("87.2", "87.0", "0.2")
        assert float(line["standard_error"]) == pytest.approx(0.56974, abs=1e-5)
        assert line["count"] == "10"

    def test_no_number_is_minus_zero(self):
        cells = table({("a", "b"): accuracy(86.999, paper=87.0, paper_deviation=1.0)})
        assert "+0.00 ±" in html_page([cells], "t")
        assert "-0.00" not in html_page([cells], "t") + markdown_page([cells], "t") + latex_document([cells])

    def test_single_split_has_no_deviation(self):
        cells = table({("a", "b"): Shown("done", 69.5, None, 1, "%", paper=69.69)})
        seen = page(cells)
        assert [line["text"] for line in seen.all("span", class_="small")] == ["paper 69.69", "-0.19"]
        assert "deviation" not in seen.all("p", class_="notes")[0]["text"]

    def test_deviations_are_explained(self, against_paper):
        for text in (
            html_page([against_paper], "t"),
            markdown_page([against_paper], "t"),
            latex_document([against_paper]),
        ):
            assert "sample standard deviations over 10 splits (divided by n - 1)" in text
            assert "its deviations are divided by n" in text

    def test_unit_is_said_once_if_it_is_the_same_and_with_each_number_if_not(self):
        same = table({("a", "b"): Shown("done", 1.0, unit="ms"), ("a", "c"): Shown("done", 2.0, unit="ms")})
        mixed = table({("a", "b"): Shown("done", 1.0, unit="ms"), ("a", "c"): Shown("done", 2.0, unit="MB")})
        assert [cell["text"] for cell in body_cells(same)] == ["1.00", "2.00"]
        assert "All values are in ms." in html_page([same], "t")
        assert [cell["text"] for cell in body_cells(mixed)] == ["1.00 ms", "2.00 MB"]
        assert markdown_cells(markdown_page([mixed], "t"))[2] == ["a", "1.00 ms", "2.00 MB"]
        assert "1.00 ms & 2.00 MB" in latex_document([mixed])

    def test_words_beside_stand_in_square_brackets(self):
        cells = table({("a", "b"): accuracy(1.0, beside="0.90")})
        assert body_cells(cells)[0]["text"].startswith("1.00 ± 1.24 [0.90]")
        assert r"1.00 (1.24) \[0.90\]" in markdown_page([cells], "t")
        assert r"1.00 $\pm$ 1.24 {[}0.90{]}" in latex_document([cells])


class TestRanks:
    def test_best_is_bold_and_second_best_underlined(self, ranked):
        seen = page(ranked)
        assert [e["text"] for e in seen.all("strong") if re.match(r"\d", e["text"])] == ["90.00"]
        assert [e["text"] for e in seen.all("span", class_="second")] == ["80.00"]
        lines = [line[1].split("<sup>")[0] for line in markdown_cells(markdown_page([ranked], "t"))[2:]]
        assert lines == ["<ins>80.00</ins> (1.24)", "**90.00** (1.24)", "70.00 (1.24)"]
        assert re.findall(r"\\(textbf|underline)\{(\d.*?)\}", latex_document([ranked])) == [
            ("underline", "80.00"),
            ("textbf", "90.00"),
        ]

    def test_the_best_of_a_row_is_marked_where_the_rows_are_data_sets(self):
        times = {("cora", "a"): 1.0, ("cora", "b"): 2.0, ("squirrel", "a"): 9.0, ("squirrel", "b"): 8.0}
        cells = {where: Shown("done", value, unit="ms", higher_is_better=False) for where, value in times.items()}
        seen = replace(table(cells), best_of="row")
        assert seen.ranks() == {("cora", "a"): 1, ("cora", "b"): 2, ("squirrel", "a"): 2, ("squirrel", "b"): 1}
        assert "The best of a row is bold" in html_page([seen], "t")

    def test_values_of_different_units_are_not_compared(self):
        cells = {("a", column): Shown("done", 1.0, unit=column, higher_is_better=False) for column in ("ms", "MB")}
        assert replace(table(cells), best_of="row").ranks() == {}

    def test_nothing_is_marked_where_nothing_is_better(self):
        cells = table({(name, "b"): Shown("done", value) for name, value in (("a", 1.0), ("c", 2.0))})
        seen = page(cells)
        assert not seen.all("strong") + seen.all("span", class_="second")
        assert "bold" not in html_page([cells], "t").split("<body>")[1]


class TestStates:
    @pytest.fixture
    def mixed(self):
        cells = {
            ("a", "cora"): accuracy(80.0, command="kedro run a", run_id="run-a"),
            ("a", "pubmed"): Shown("failed", text="out of\nmemory", command="kedro run b"),
            ("a", "squirrel"): accuracy(60.0, "stale", command="kedro run c"),
            ("a", "chameleon"): Shown("missing", command="kedro run d", paper=55.5),
        }
        return table(cells, columns=("cora", "pubmed", "squirrel", "chameleon", "texas"))

    def test_missing_cells_are_empty_but_for_what_the_paper_has(self, mixed):
        *_, chameleon, texas = body_cells(mixed)
        assert texas["text"] == "\N{EN DASH}"
        assert chameleon["text"].startswith("\N{EN DASH}paper 55.50")
        assert chameleon["title"] == "command: kedro run d"
        assert markdown_cells(markdown_page([mixed], "t"))[2][4:] == ["paper 55.50", ""]
        assert latex_document([mixed]).count(r"\muted{--}") == 2
        *_, fourth, fifth = csv.DictReader(io.StringIO(csv_text([mixed])))
        for line in (fourth, fifth):
            assert line["state"] == "missing"
            names = ("value", "deviation", "count", "difference", "standard_error", "text")
            assert [line[name] for name in names] == [""] * 6

    def test_failed_cells_tell_why(self, mixed):
        seen = page(mixed)
        cell = body_cells(mixed)[1]
        assert cell["text"].startswith("failed1")
        assert "failed: out of memory" in cell["title"]
        (link,) = [e for e in seen.all("a") if "failed" in e["href"]]
        (line,) = seen.all("li", id=link["href"].removeprefix("#"))
        assert line["text"] == "a, pubmed failed: out of memory kedro run b"
        assert "a, pubmed: failed: out of memory; `kedro run b`" in markdown_page([mixed], "t")
        assert r"failed\textsuperscript{1}" in latex_document([mixed])
        assert r"\textsuperscript{1}~a, pubmed failed: out of memory" in latex_document([mixed])

    def test_stale_cells_are_struck_and_called_so(self, mixed):
        seen = page(mixed)
        assert [e["text"] for e in seen.all("s")] == ["60.00 ± 1.24"]
        assert body_cells(mixed)[2]["text"].startswith("60.00 ± 1.24 stale")
        assert "stale: measured by code that behaves otherwise now" in body_cells(mixed)[2]["title"]
        assert "~~60.00 (1.24)~~ stale" in markdown_page([mixed], "t")
        assert r"\muted{60.00 $\pm$ 1.24 stale}" in latex_document([mixed])

    def test_states_are_counted(self, mixed):
        for text in (html_page([mixed], "t"), markdown_page([mixed], "t"), latex_document([mixed])):
            assert "1 of 5 cells measured, 1 failed, 1 stale, 2 missing" in text

    def test_every_cell_opens_what_made_it(self, mixed):
        seen = page(mixed)
        targets = [button["popovertarget"] for button in seen.all("button")]
        boxes = [box["id"] for box in seen.all("div", popover="auto")]
        assert targets == boxes
        assert len(set(boxes)) == 4
        assert "kedro run a" in seen.all("div", popover="auto")[0]["text"]

    def test_cells_of_one_run_share_a_note(self):
        cells = table({("a", name): Shown("done", 1.0, command="kedro run", run_id="r") for name in ("time", "memory")})
        text = markdown_page([cells], "t")
        assert text.count("<sup>1</sup>") == 2
        assert "1. a, time; a, memory: `kedro run`; run r" in text
        assert "2. " not in text


class TestPictures:
    @pytest.fixture
    def pictures(self):
        return table({("t-SNE", "cora"): Shown("done", picture=PIXEL), ("t-SNE", "b"): Shown("stale", picture=PIXEL)})

    def test_picture_is_embedded_with_words_for_those_who_cannot_see_it(self, pictures):
        first, second = page(pictures).all("img")
        assert base64.b64decode(first["src"].removeprefix("data:image/png;base64,")) == PIXEL
        assert (first["alt"], second["alt"]) == ("Accuracy: t-SNE, cora", "Accuracy: t-SNE, b")
        assert body_cells(pictures)[0]["text"] == ""
        assert [flag["text"] for flag in page(pictures).all("span", class_="flag")] == ["stale"]

    def test_other_formats_leave_pictures_out_or_name_their_files(self, pictures):
        def path(table, row, column):
            return f"{table.name}/{column}_1.png"

        assert markdown_cells(markdown_page([pictures], "t"))[2][1] == "(picture)"
        assert "![Accuracy: t-SNE, cora](table_1/cora_1.png)" in markdown_page([pictures], "t", path)
        assert "includegraphics" not in latex_document([pictures])
        assert r"{\detokenize{table_1/cora_1.png}}" in latex_document([pictures], path)
        assert [line["text"] for line in csv.DictReader(io.StringIO(csv_text([pictures])))] == ["picture"] * 2

    def test_hostile_path_stays_inside_its_link_and_is_refused_by_latex(self, pictures):
        assert "](a%20b%29.png)" in markdown_page([pictures], "t", lambda *_: "a b).png")
        with pytest.raises(ValueError, match="plain letters"):
            latex_document([pictures], lambda *_: "a}b.png")


class TestPage:
    def test_page_needs_no_network_and_no_script(self, hostile, against_paper):
        linked = table({("a", "b"): accuracy(1.0, command="curl http://example.com", text="http://example.com")})
        text = html_page([hostile, against_paper, linked], "t")
        seen = Page(text)
        assert all(not e.get(name, "").startswith(("http", "//")) for e in seen.elements for name in ("src", "href"))
        assert not {"script", "link", "iframe", "base"} & {e["tag"] for e in seen.elements}
        assert not re.search(r"url\(|@import", seen.all("style")[0]["text"])
        assert not any(name.startswith("on") for e in seen.elements for name in e)

    def test_index_leads_to_each_table_if_there_are_several(self, against_paper, ranked):
        assert not page(ranked).all("nav")
        seen = page(against_paper, ranked)
        links = [link["href"] for link in seen.all("a")]
        assert links == [f"#{section['id']}" for section in seen.all("section")]
        assert len(set(links)) == 2

    def test_names_in_a_page_are_unique(self, hostile, ranked):
        names = [e["id"] for e in page(hostile, hostile, ranked, ranked).elements if "id" in e]
        assert len(names) == len(set(names))

    def test_rows_and_columns_are_headings_in_order(self):
        cells = table({("b", "x"): accuracy(1.0)}, rows=("b", "a"), columns=("x", "w"))
        seen = page(cells)
        assert [e["text"] for e in seen.all("th", scope="row")] == ["b", "a"]
        assert [e["text"] for e in seen.all("th", scope="col")] == ["x", "w"]

    def test_nothing_to_show_is_still_a_page(self):
        empty = Table("t", "T", (), (), {})
        for tables in ([], [empty]):
            assert not Page(html_page(tables, "t")).open
            assert markdown_page(tables, "t").startswith("# t\n")
            assert latex_document(tables).endswith("\\end{document}\n")
            assert len(csv_text(tables).splitlines()) == 1


def test_scores_two_points_below_the_papers_are_named():
    below, close = (
        Shown("done", 84.9, 1.0, 10, "%", higher_is_better=True, paper=87.0),
        Shown("done", 85.1, 1.0, 10, "%", higher_is_better=True, paper=87.0),
    )
    table = Table("t", "T", ("DGI", "FiGURe"), ("cora",), {("DGI", "cora"): below, ("FiGURe", "cora"): close})
    text = markdown_page([table], "T")
    assert "2 points or more below the paper's: DGI, cora (-2.10)." in text
