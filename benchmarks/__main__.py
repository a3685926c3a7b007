"""Run benchmarks: ``python -m benchmarks [name ...]``."""

import argparse
import importlib
import os
import sys
from pathlib import Path

from pydantic import ValidationError
from rich.traceback import Traceback

from benchmarks import BENCHMARKS
from benchmarks.report import console, write_results
from benchmarks.settings import Settings
from figure_kedro.errors import nearest

RESULTS = Path(__file__).parent / "results"


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked for; the exit code is 1 if any benchmark failed and 2 if the request was wrong."""
    parser = _parser()
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in BENCHMARKS:
            parser.error(f"there is no benchmark {name!r}; {nearest(name, BENCHMARKS)}")
    if options.small and options.results == RESULTS:
        parser.error("--small would overwrite the real results; give another folder with --results")
    given = {key: value for key in ("threads", "repeat", "small") if (value := getattr(options, key)) is not None}
    try:
        settings = Settings(**given)
    except ValidationError as error:
        parser.error("; ".join(f"{e['loc'][0]}: {e['msg']}" for e in error.errors()))
    if options.list:
        for name in BENCHMARKS:
            console.print(f"[bold]{name}[/bold]  {_title(importlib.import_module(f'benchmarks.{name}').__doc__)}")
        return 0

    load = os.getloadavg()[0]  # before anything of this run adds to it
    failed = []
    for name in options.names or BENCHMARKS:
        console.print(f"[bold]{name}[/bold]")
        try:
            path = _run(name, settings, options.results, load)
        except Exception as error:  # one that fails must not cost the results of the others
            console.print(Traceback.from_exception(type(error), error, error.__traceback__))
            failed.append(f"{name}: {type(error).__name__}: {error}")
        else:
            console.print(f"  written to {os.path.relpath(path)}", markup=False)
    for line in failed:
        console.print(f"failed: {line}", style="red", markup=False)
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks", description="Measure, and renew the tables of results.")
    parser.add_argument("names", nargs="*", metavar="name", help="which benchmarks; all if none is named")
    parser.add_argument("--list", action="store_true", help="name the benchmarks and stop")
    parser.add_argument("--threads", type=int, nargs="+", help="numbers of threads (default: 1 and 2)")
    parser.add_argument("--repeat", type=int, help="measured runs behind each median (default: 3)")
    parser.add_argument("--small", action="store_true", help="small graphs, to try the benchmarks out")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the tables")
    return parser


def _run(name: str, settings: Settings, folder: Path, load: float) -> Path:
    module = importlib.import_module(f"benchmarks.{name}")
    frame = module.run(settings)
    return write_results(folder, name, _title(module.__doc__), module.NOTE, frame, settings, load)


def _title(docstring: str) -> str:
    return docstring.strip().splitlines()[0].rstrip(".")


if __name__ == "__main__":
    sys.exit(main())
