"""Pages of the documentation site that are made when it is built: from files beside docs, and from the settings."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic_core import PydanticUndefined

from figure_kedro.parameters import KINDS, Parameters
from figure_kedro.parts import Decides, Settings

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

PROJECT = Path(__file__).parents[2]

MARKS = {
    None: "",
    Decides.NOTHING: "decides no result by itself",
    Decides.TARGETS: "decides labels and splits alone",
    Decides.CONTENT: "counts by the content of the file",
}

WHOLE = {"index": "README.md", "changes": "CHANGELOG.md", "contributing": "CONTRIBUTING.md"}
"""Files of the repository that are pages as they are."""


def on_files(files: "Files", config: "MkDocsConfig") -> "Files":
    """Add the pages that are made here."""
    from mkdocs.structure.files import File

    pages = {page: _relinked((PROJECT / file).read_text()) for page, file in WHOLE.items()}
    pages |= {"parameters": parameters_page()}
    for page, text in pages.items():
        files.append(File.generated(config, f"{page}.md", content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Links to files of the repository that are no page of the site, as names."""
    return _relinked(markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Names and formulas of docstrings, which are written for other readers too, as code."""
    html = re.sub(r":(?:class|func|meth|mod|data|attr):<code>~(?:[^<]*\.)?([^<.]+)</code>", r"<code>\1</code>", html)
    html = re.sub(r":(?:class|func|meth|mod|data|attr|math):<code>", "<code>", html)
    html = html.replace("::</p>", ":</p>")
    return re.sub(r"<p>\.\. math::\s*(.*?)</p>", r"<pre><code>\1</code></pre>", html, flags=re.DOTALL)


def on_post_page(output: str, **_: Any) -> str:
    """Search from disk by our own script, in place of one that the theme takes from the network."""
    return output.replace("https://unpkg.com/iframe-worker/shim", "offline_search.js")


def on_post_template(output_content: str, **_: Any) -> str:
    """The same for the page that says that there is none."""
    return on_post_page(output_content)


def parameters_page() -> str:
    """Every parameter with its meaning, range and default, by group and by the part that has it."""
    groups = [name for name in Parameters.model_fields if name in KINDS]
    alone = {path: row for path, row in _rows(Parameters).items() if path.split(".")[0] not in groups}
    lines = ["# Every parameter", "", "All go into one `--params` option: `--params dataset=cora,filters.size=11`.", ""]
    lines += ["## The run", "", *_table(alone)]
    for group in groups:
        kind = KINDS[group]
        rows = {part: _rows(kind[part].Settings, f"{group}.") for part in kind.names()}
        first, *others = rows.values()
        shared = {path: row for path, row in first.items() if all(other.get(path) == row for other in others)}
        lines += [f"## `{group}`", "", f"`{group}.{kind.tag}` chooses: {', '.join(f'`{part}`' for part in rows)}.", ""]
        lines += ["All of them have", "", *_table(shared)] if shared else []
        for part, own in rows.items():
            choice = f"{group}.{kind.tag}"
            lines += [f"### `{part}`", "", _first_line(kind[part]), ""]
            lines += _table({path: row for path, row in own.items() if path not in {choice, *shared}})
    return "\n".join(lines)


def _table(rows: dict[str, str]) -> list[str]:
    return ["| parameter | meaning | default | |", "|---|---|---|---|", *rows.values(), ""] if rows else []


def _rows(settings: Any, prefix: str = "") -> dict[str, str]:
    """A row of a table for every parameter, by its path; those of groups inside are among them."""
    rows: dict[str, str] = {}
    for name, field in settings.model_fields.items():
        path = f"{prefix}{name}"
        if _is_group(field):
            rows |= _rows(field.annotation, f"{path}.")
            continue
        needed = field.default is PydanticUndefined and not field.default_factory
        default = "needed" if needed else f"`{field.get_default(call_default_factory=True)}`"
        mark = next((mark for mark in field.metadata if isinstance(mark, Decides)), None)
        limits = ", ".join(limit for limit in map(_limit, field.metadata) if limit)
        meaning = (field.description or "") + (f" ({limits})" if limits else "")
        cells = [f"`{path}`", meaning, default, MARKS[mark]]
        rows[path] = f"| {' | '.join(str(cell).replace('|', '&#124;') for cell in cells)} |"
    return rows


def _limit(mark: Any) -> str:
    words = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
    return next((f"{text} {getattr(mark, name):g}" for name, text in words.items() if hasattr(mark, name)), "")


def _is_group(field: Any) -> bool:
    return isinstance(field.annotation, type) and issubclass(field.annotation, Settings)


def _first_line(part: Any) -> str:
    """What a part is, without the signs of reStructuredText."""
    line = " ".join((part.Settings.__doc__ or part.__doc__ or "").strip().split("\n\n")[0].split())
    return re.sub(r":\w+:`~?([^`]+)`", r"`\1`", line)


def _relinked(text: str) -> str:
    """Links of the repository as links of the site; what is not on it stays as a name."""
    text = re.sub(r"\]\((?:\.\./)?CONTRIBUTING\.md\)", "](contributing.md)", text.replace("](docs/", "]("))
    text = re.sub(r"\]\((?:\.\./)?CHANGELOG\.md\)", "](changes.md)", text)
    return re.sub(r"\[([^\]]+)\]\((?:\.\./)?(?:benchmarks|notebooks|src)\b[^)]*\)", r"`\1`", text)
