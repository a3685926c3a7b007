"""Parameters, data set files and the command line become one configuration."""

import shutil

import pytest

from configurations import MINE, PROJECT, copy_of_conf, loader
from figure_kedro.errors import UserError
from figure_kedro.evaluation import HEADS
from figure_kedro.filters import BANKS
from figure_kedro.methods.method import METHODS
from figure_kedro.parameters import KINDS


@pytest.fixture
def conf(tmp_path):
    return copy_of_conf(tmp_path)


def test_default_is_the_data_set_that_needs_no_file(conf):
    parameters = loader(conf).parameters
    assert (parameters.dataset, parameters.source.kind) == ("minesweeper_generated", "minesweeper_generated")


def test_file_of_the_data_set_wins_over_parameters_and_the_command_line_over_both(conf):
    assert loader(conf).parameters.filters.size == 4
    assert loader(conf, dataset="mine").parameters.filters.size == 7
    filters = loader(conf, dataset="mine", filters={"size": 9}).parameters.filters
    assert (filters.size, filters.bank, filters.self_loops) == (9, "bernstein", True)


def test_local_file_changes_what_it_names_and_nothing_else(conf):
    (conf / "local" / "datasets" / "csbm.yml").write_text("csbm: {source: {nodes: 20}}")
    (conf / "local" / "parameters.yml").write_text("filters: {size: 5}")
    parameters = loader(conf, dataset="csbm").parameters
    assert (parameters.source.nodes, parameters.source.degree) == (20, 10)
    assert (parameters.filters.size, parameters.filters.bank) == (5, "monomial")


def test_without_a_folder_for_settings_of_ones_own_there_are_those_of_the_project(conf):
    shutil.rmtree(conf / "local")
    assert loader(conf, dataset="csbm").parameters.dataset == "csbm"


def test_file_of_the_method_wins_over_parameters_and_the_data_set_over_the_method(conf):
    (conf / "local" / "methods").mkdir()
    (conf / "local" / "methods" / "dgi.yml").write_text("dgi: {filters: {size: 2, bank: chebyshev}}")
    assert loader(conf).parameters.filters.size == 4
    method = {"representation": {"method": "dgi"}}
    assert loader(conf, **method).parameters.filters.size == 2
    filters = loader(conf, dataset="mine", **method).parameters.filters
    assert (filters.size, filters.bank) == (7, "bernstein")
    assert loader(conf, **method, filters={"size": 3}).parameters.filters.size == 3


@pytest.mark.parametrize("path", sorted((PROJECT / "conf" / "base" / "methods").glob("*.yml")), ids=lambda p: p.stem)
def test_every_method_file_is_valid_and_searches_settings_that_exist(conf, path):
    representation = loader(conf, representation={"method": path.stem}).parameters.representation
    assert representation.space
    for name, values in representation.space.items():
        for value in values:
            assert representation.changed({name: value}).at(name) == value


def test_every_method_is_valid_with_the_settings_of_the_files(conf):
    for name in METHODS.names():
        assert loader(conf, representation={"method": name}).parameters.representation.method == name


def test_every_part_of_every_kind_is_valid_with_the_settings_of_the_files(conf):
    for group in ("features", "filters", "projection", "evaluation"):
        kind = KINDS[group]
        for name in kind.names():
            parameters = loader(conf, **{group: {kind.tag: name}}).parameters
            assert getattr(getattr(parameters, group), kind.tag) == name


def test_a_data_set_may_differ_for_one_dimension_and_the_command_line_wins(conf):
    path = conf / "local" / "datasets" / "mine.yml"
    dimensions = "  dimensions: {32: {filters: {size: 5}, features: {normalise: rows}}}\n"
    path.write_text(MINE + dimensions)

    def chosen(dim, **params):
        representation = {} if dim is None else {"representation": {"dim": dim}}
        parameters = loader(conf, dataset="mine", **representation, **params).parameters
        return parameters.filters.bank, parameters.filters.size, parameters.features.normalise

    assert chosen(512) == ("bernstein", 7, "none")
    assert chosen(32) == ("bernstein", 5, "rows")
    assert chosen(32, filters={"size": 9}) == ("bernstein", 9, "rows")
    path.write_text(MINE + "  representation: {dim: 32}\n" + dimensions)
    assert chosen(None) == ("bernstein", 5, "rows")
    for head in ("gcn", "gprgnn", "h2gcn"):  # there are no embeddings of any dimension
        assert chosen(None, evaluation={"head": head}) == ("bernstein", 7, "none")
    assert chosen(None, evaluation={"head": "mlp"}) == ("bernstein", 5, "rows")


def test_a_protocol_may_differ_for_all_for_a_method_and_for_a_dimension(conf):
    path = conf / "local" / "datasets" / "mine.yml"
    path.write_text(
        MINE
        + """  methods: {dgi: {filters: {size: 2}}}
  protocols:
    best: {filters: {self_loops: false}, dimensions: {32: {filters: {size: 6}}}}
    paper:
      filters: {loop_weight: 0.5}
      methods: {figure: {representation: {training: {learning_rate: 0.5}}}}
    third: {filters: {size: 8}}
"""
    )

    def chosen(**params):
        run = loader(conf, dataset="mine", **params).parameters
        filters, training = run.filters, run.representation.training
        return filters.self_loops, filters.loop_weight, filters.size, training.learning_rate

    rate = loader(conf, dataset="csbm").parameters.representation.training.learning_rate
    assert chosen() == (False, 1.0, 7, rate)
    assert chosen(representation={"dim": 32}) == (False, 1.0, 6, rate)
    assert chosen(protocol="paper") == (True, 0.5, 7, 0.5)
    assert chosen(protocol="paper", representation={"dim": 32}) == (True, 0.5, 7, 0.5)
    assert chosen(protocol="third") == (True, 1.0, 8, rate)
    dgi = loader(conf, dataset="mine", protocol="paper", representation={"method": "dgi"}).parameters
    assert (dgi.filters.loop_weight, dgi.filters.size) == (0.5, 2)
    assert dgi.representation.training.learning_rate != 0.5


def test_the_protocol_is_named_by_what_it_changes_and_an_unknown_one_is_one_line(conf):
    best, paper = (loader(conf, dataset="minesweeper", protocol=name).parameters for name in ("best", "paper"))
    assert best.key("filters") != paper.key("filters")
    as_published = {"bank": "monomial", "size": 4, "self_loops": True, "loop_weight": 0.5}
    same = loader(conf, dataset="minesweeper", filters=as_published).parameters
    assert same.key("evaluation") == paper.key("evaluation")
    with pytest.raises(UserError) as error:
        loader(conf, protocol="papr").parameters  # noqa: B018
    assert str(error.value) == "there is no protocol 'papr'; did you mean 'paper'?"


@pytest.mark.parametrize("head", ["gcn", "gprgnn", "h2gcn"])
def test_a_network_that_is_trained_end_to_end_has_nothing_learnt_before_it(conf, head):
    representation = loader(conf, evaluation={"head": head}).parameters.representation
    assert (representation.method, representation.embeddings) == ("features", "never")
    for given, line in (
        (
            {"method": "dgi"},
            "this evaluation.head learns from the features end to end; leave representation.method out",
        ),
        ({"dim": 32}, "unknown parameter 'representation.dim'; it is a setting of representation.method="),
    ):
        with pytest.raises(UserError, match=line) as error:
            loader(conf, evaluation={"head": head}, representation=given).parameters  # noqa: B018
        assert "\n" not in str(error.value)


def test_what_a_file_says_about_other_parts_is_left_aside(conf):
    (conf / "local" / "parameters.yml").write_text(
        "representation: {temperature: 0.7, p: 3.0, training: {patience: 7}}\nprojection: {gammas: [0.5]}\n"
    )
    figure = loader(conf).parameters
    assert (figure.representation.method, figure.representation.training.patience) == ("figure", 7)
    assert figure.projection.map == "identity"
    assert loader(conf, representation={"method": "grace"}).parameters.representation.temperature == 0.7
    node2vec = loader(conf, representation={"method": "node2vec"}).parameters.representation
    assert node2vec.p == 0.25  # its own file stands later
    assert loader(conf, projection={"map": "fourier"}).parameters.projection.gammas == (0.5,)
    assert loader(conf, representation={"method": "untrained"}).parameters.representation.training.seed == 0


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (
            {"projection": {"gammas": [0.5]}},
            "unknown parameter 'projection.gammas'; it is a setting of projection.map=fourier",
        ),
        (
            {"representation": {"method": "deepwalk", "p": 2.0}},
            "unknown parameter 'representation.p'; it is a setting of representation.method=node2vec",
        ),
        (
            {"projection": {"degree": 3}},
            "unknown parameter 'projection.degree'; it is a setting of projection.map=anova or maclaurin",
        ),
        (
            {"evaluation": {"patience": 3}},
            "unknown parameter 'evaluation.patience'; it is a setting of evaluation.head=gcn, ",
        ),
    ],
)
def test_a_setting_of_another_part_on_the_command_line_is_one_line_that_names_the_part(conf, given, line):
    with pytest.raises(UserError) as error:
        loader(conf, **given).parameters  # noqa: B018
    assert str(error.value).startswith(line)
    assert "\n" not in str(error.value)


def test_a_misspelt_setting_in_a_file_is_found_though_files_may_speak_of_other_parts(conf):
    (conf / "local" / "parameters.yml").write_text("projection: {gamas: [0.5]}\n")
    with pytest.raises(UserError, match=r"unknown parameter 'projection\.gamas'") as error:
        loader(conf).parameters  # noqa: B018
    assert "\n" not in str(error.value)


def test_nodes_get_the_merged_parameters(conf):
    given = loader(conf, dataset="mine", features={"seed": 3})["parameters"]
    assert given["filters"] == BANKS.parse({"bank": "bernstein", "size": 7, "self_loops": True})
    assert given["filters"].model_dump() == {
        "bank": "bernstein",
        "size": 7,
        "self_loops": True,
        "loop_weight": 1.0,
        "direction": "auto",
    }
    assert given["features"].seed == 3
    assert isinstance(given["evaluation"], HEADS["linear"].Settings)
    assert given["dataset"] == "mine"


@pytest.mark.parametrize("path", sorted((PROJECT / "conf" / "base" / "datasets").glob("*.yml")), ids=lambda p: p.stem)
def test_every_data_set_file_is_valid(conf, path):
    source = {"source": {"edges": "edges.csv"}} if path.stem == "own" else {}
    assert loader(conf, dataset=path.stem, **source).parameters.dataset == path.stem


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("coar", "there is no data set 'coar'; did you mean 'cora'?"),
        ("minee", "there is no data set 'minee'; did you mean 'mine'?"),
    ],
)
def test_unknown_data_set_is_one_line_with_the_nearest_name(conf, name, line):
    with pytest.raises(UserError) as error:
        loader(conf, dataset=name).parameters  # noqa: B018
    assert str(error.value) == line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("mine: 3", "must hold parameters below its name"),
        ("mine: {source: {kind: csbm}, filtres: {size: 3}}", "unknown parameter 'filtres'; did you mean 'filters'"),
        ("mine: {source: [", "cannot be read"),
        ("mine: {source: {kind: csbm}, dimensions: 3}", "'dimensions' must hold parameters below its name"),
        ("mine: {source: {kind: csbm}, dimensions: {512: 3}}", "512 must hold parameters below its name"),
        ("mine: {source: {kind: csbm}, dimensions: {512: {filtres: 3}}}", "unknown parameter 'filtres'"),
        ("mine: {source: {kind: csbm}, protocols: 3}", "'protocols' must hold parameters below its name"),
        ("mine: {source: {kind: csbm}, protocols: {best: {methods: 3}}}", "'methods' must hold parameters"),
        ("mine: {source: {kind: csbm}, protocols: {best: {filtres: {}}}}", "unknown parameter 'filtres'"),
        ("mine: {filters: {size: '${globals:nothing}'}}", "cannot be read"),
    ],
)
def test_mistake_in_a_data_set_file_is_one_line(conf, text, line):
    (conf / "local" / "datasets" / "mine.yml").write_text(text)
    with pytest.raises(UserError, match=line) as error:
        loader(conf, dataset="mine").parameters  # noqa: B018
    assert "\n" not in str(error.value)
