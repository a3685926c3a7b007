"""The end of a run for people: a panel on the console."""

from collections.abc import Mapping

from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from figure_kedro.reporting.record import RunRecord
from figure_kedro.reporting.results import with_spread


def summary_panel(record: RunRecord, artefacts: Mapping[str, str], mlflow_command: str) -> Panel:
    """Show a record on the console: what was run, what it reached, what the paper has, and where to look next.

    Args:
        record: Of the run.
        artefacts: What each artefact is, and the path it is kept under.
        mlflow_command: Opens MLflow on this run.
    """
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")

    def add(title: str, value: str | Text) -> None:
        grid.add_row(title, Text(value) if isinstance(value, str) else value)  # a path may hold [ ], which is markup

    count = record.splits
    add("run", record.title)
    reached = with_spread(record.test_mean, record.test_std)
    add(f"test {record.metric}", f"{reached} over {count} split{'s' * (count != 1)}")
    add("validation", with_spread(record.val_mean, record.val_std))
    if record.test_twins:
        free = with_spread(record.twin_free_mean, record.twin_free_std)
        add("without twins", f"{free}; {record.test_twins:.0f} test nodes have the very neighbours of a training node")
    add("paper", against_paper(record))
    for other, scores in record.scores.items():
        if other != record.metric:
            add(f"test {other}", with_spread(scores.test_mean, scores.test_std))
    add("training", _training(record))
    for title, path in artefacts.items():
        add(title, path)
    add("open MLflow", Text(mlflow_command, style="cyan"))
    return Panel(grid, title="figure_kedro", title_align="left", expand=False)


def against_paper(record: RunRecord) -> Text:
    """The paper's number and how far the run is from it."""
    paper, reached = record.paper_mean, record.test_mean
    if paper is None:
        return Text("no number for this cell", style="dim")
    text = Text(with_spread(paper, record.paper_std))
    if reached is not None:
        difference = round(reached - paper, 2) + 0.0  # no "-0.00"
        text.append(f"  ({difference:+.2f} points)", style="green" if difference >= 0 else "yellow")
    return text


def _training(record: RunRecord) -> str:
    parts = []
    if record.epochs:
        parts.append(f"{record.epochs} epochs")
        if record.mean_epoch_seconds is not None:
            parts[0] += f" of {record.mean_epoch_seconds:.3g} s"
    else:
        parts.append("none")
    if record.peak_memory_mb is not None:
        parts.append(f"{record.peak_memory_mb:.0f} MB at most")
    parts.append(f"{record.storage_mb:.4g} MB of representations")
    return ", ".join(parts)
