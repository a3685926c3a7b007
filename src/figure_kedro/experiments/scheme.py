"""The paper's two schemes, drawn from the pipelines themselves."""

import io
from collections import defaultdict

from kedro.pipeline import Pipeline
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from figure_kedro.errors import UserError, nearest

NODE, DATA = "#0072B2", "#E8E8E8"


def scheme(name: str) -> bytes:
    """A PNG of a pipeline: what goes into it, its nodes, and what comes out, from left to right."""
    from figure_kedro.pipeline_registry import register_pipelines

    pipelines = register_pipelines()
    if name not in pipelines:
        raise UserError(f"there is no pipeline {name!r}; {nearest(name, pipelines)}")
    file = io.BytesIO()
    scheme_figure(pipelines[name]).savefig(file, format="png", dpi=120)
    return file.getvalue()


def scheme_figure(pipeline: Pipeline) -> Figure:
    """Boxes for nodes, rounded ones for what they pass on, in columns by their distance from the beginning."""
    columns, arrows = _columns(pipeline)
    height = max(len(names) for names in columns.values())
    figure = Figure(figsize=(2.6 * len(columns), 0.62 * height + 0.4), layout="constrained")
    axis: Axes = figure.subplots()
    axis.set(xlim=(-0.5, len(columns) - 0.5), ylim=(-0.6, height - 0.4))
    axis.axis("off")
    places = {
        name: (column, (height - 1) / 2 - (number - (len(names) - 1) / 2))
        for column, names in columns.items()
        for number, name in enumerate(names)
    }
    nodes, boxes = {node.name for node in pipeline.nodes}, {}
    for name, (x, y) in places.items():
        style = "square,pad=0.35" if name in nodes else "round,pad=0.35"
        colour = (NODE, "white") if name in nodes else (DATA, "black")
        box = {"boxstyle": style, "facecolor": colour[0], "edgecolor": "none"}
        text = name.rpartition(".")[2].removeprefix("params:").replace("_", " ")
        written = axis.text(x, y, text, ha="center", va="center", fontsize=8.5, color=colour[1], bbox=box, zorder=2)
        boxes[name] = written.get_bbox_patch()
    for first, second in arrows:
        ends = {"patchA": boxes[first], "patchB": boxes[second], "shrinkA": 1, "shrinkB": 1}
        arrow = {"arrowstyle": "->", "color": "0.55", "linewidth": 0.9, **ends}
        axis.annotate("", xy=places[second], xytext=places[first], arrowprops=arrow, zorder=1)
    return figure


def _columns(pipeline: Pipeline) -> tuple[dict[int, list[str]], list[tuple[str, str]]]:
    """Names of nodes and data sets in columns, and the arrows between them."""
    depth: dict[str, int] = defaultdict(int)
    arrows = []
    for node in pipeline.nodes:  # in the order in which they can run
        depth[node.name] = 1 + max((depth[name] for name in node.inputs), default=0)
        for name in node.outputs:
            depth[name] = depth[node.name] + 1
        arrows += [(name, node.name) for name in node.inputs] + [(node.name, name) for name in node.outputs]
    for name in pipeline.inputs():  # close to the first node that reads them
        depth[name] = min(depth[second] for first, second in arrows if first == name) - 1
    columns: dict[int, list[str]] = defaultdict(list)
    lowest = min(depth.values())
    for name in dict.fromkeys(end for arrow in arrows for end in arrow):
        columns[depth[name] - lowest].append(name)
    return dict(sorted(columns.items())), arrows
