import pytest

from figure_kedro.reporting.paper import paper_cell, paper_projection, paper_results, paper_variant


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (("cora", "figure", 512, "none"), (87.00, 1.24)),
        (("squirrel", "figure", 32, "fourier"), (48.89, 1.55)),
        (("minesweeper", "mvgrl", 512, "none"), (85.60, 0.35)),
        (("roman_empire", "deepwalk", 512, "none"), (13.08, 0.59)),
        (("arxiv_year", "sugrl", 512, "none"), (36.96, 0.19)),
        (("chameleon", "grace", 32, "fourier"), (67.39, 2.23)),
        (("citeseer", "sugrl", 32, "none"), (42.84, 2.57)),
        (("squirrel", "dgi", 128, "none"), (34.22, 1.47)),
        (("chameleon", "figure", 128, "none"), (59.08, 3.36)),
        (("chameleon", "figure", 512, "fourier"), (68.60, 1.57)),
        (("squirrel", "figure", 512, "none", "chebyshev_11"), (52.46, 1.10)),
        (("citeseer", "figure", 512, "none", "independent"), (75.03, 1.75)),
        (("chameleon", "figure", 512, "none", "mlp_2"), (68.18, 1.76)),
        (("cora", "figure", 32, "anova"), (83.26, 0.78)),
        (("citeseer", "figure", 32, "polynomial_10"), (68.71, 1.67)),
        (("pubmed", "h2gcn", 512, "none"), (89.59, 0.33)),
        (("arxiv_year", "gprgnn", 512, "none"), (45.07, 0.21)),
    ],
)
def test_cell_is_the_number_printed_in_the_paper(cell, expected):
    assert paper_cell(*cell) == expected


def test_main_table_wins_where_two_tables_differ():
    assert paper_cell("pubmed", "figure", 32, "fourier") == (83.91, 0.69)
    assert paper_cell("roman_empire", "figure", 128, "fourier") == (67.01, 0.56)
    assert paper_cell("chameleon", "gcn", 512, "none") == (61.43, 2.70)
    assert paper_cell("cora", "figure", 32, "fourier") == (82.56, 0.87)


def test_single_split_has_no_deviation():
    assert paper_cell("ogbn_arxiv", "figure", 512, "none") == (69.69, None)


def test_out_of_memory_and_unknown_cells_have_no_number():
    assert paper_cell("arxiv_year", "mvgrl", 512, "none") is None
    assert paper_cell("minesweeper_generated", "figure", 512, "none") is None
    assert paper_cell("cora", "figure", 512, "none", None) is None
    table = paper_results()
    empty = table[table["mean"].isna()]
    assert set(zip(empty["dataset"], empty["method"], strict=True)) == {
        (dataset, method) for dataset in ("arxiv_year", "ogbn_arxiv") for method in ("mvgrl", "grace")
    } | {("ogbn_arxiv", "h2gcn")}


def test_identity_is_no_projection():
    assert paper_cell("cora", "figure", 512, "identity") == paper_cell("cora", "figure", 512, "none")


def test_table_counts_match_the_shape_of_the_printed_tables():
    counts = paper_results()["table"].value_counts().to_dict()
    assert counts == {
        "main": 9 * 9,
        "gcn": 2 * 9,
        "rff_32": 10 * 4,
        "rff_128": 10 * 4,
        "rff_512": 4,
        "shared": 2 * 4,
        "filter_banks": 5 * 4,
        "encoder_depth": 5 * 4,
        "projections": 5 * 4,
        "supervised": 6 * 9,
    }


def test_average_gain_of_figure_over_dgi_is_the_printed_one():
    # the rightmost column of the main table: a check on a whole row of numbers
    main = paper_results().query("table == 'main'")
    ours = main.query("method == 'figure' and dim == 512").set_index("dataset")["mean"]
    for method, gain in (("dgi", 6.61), ("sugrl", 8.64), ("deepwalk", 13.48), ("mvgrl", 4.39), ("grace", 5.54)):
        theirs = main.query("method == @method").set_index("dataset")["mean"]
        assert (ours - theirs).mean() == pytest.approx(gain, abs=0.011), method


def test_settings_are_named_as_in_the_tables():
    known = set(paper_results()["projection"])
    assert {paper_projection("maclaurin", "exponential"), paper_projection("maclaurin"), "anova", "none"} <= known
    assert paper_variant(shared=False) == "independent"
    assert paper_variant(mlp_layers=3) == "mlp_3"
    assert paper_variant(size=5) is None
    assert paper_variant(bank="chebyshev", size=11, shared=False) is None
