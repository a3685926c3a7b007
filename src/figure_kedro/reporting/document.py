"""One HTML page that needs nothing beside itself: no network, no scripts, no other file.

A page is built as a tree, so that whatever comes from data is escaped when the tree is written.
"""

import base64
from collections.abc import Iterable
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from figure_kedro.reporting.page_style import STYLE

Content = str | Element

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def page(title: str, *body: Content, style: str = "") -> str:
    """A whole page.

    Args:
        title: Of the browser's window.
        body: Everything on it.
        style: What it adds to the style of all pages.
    """
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", {"http-equiv": "Content-Security-Policy"}, content=POLICY),
        tag("title", title),
        tag("style", STYLE + style),
    )
    whole = tag("html", head, "\n", tag("body", tag("main", *body)), lang="en")
    return f"<!DOCTYPE html>\n{ElementTree.tostring(whole, encoding='unicode', method='html')}\n"


def tag(kind: str, /, *content: Content | dict[str, str], **attributes: str) -> Element:
    """An element of texts and elements; attributes whose names Python has taken come as a dictionary or with ``_``."""
    element = Element(kind, {key.strip("_").replace("_", "-"): value for key, value in attributes.items()})
    for part in content:
        if isinstance(part, dict):
            element.attrib.update(part)
        elif isinstance(part, Element):
            element.append(part)
        elif len(element):
            element[-1].tail = (element[-1].tail or "") + part
        else:
            element.text = (element.text or "") + part
    return element


def picture(png: bytes, description: str) -> Element:
    """A picture inside the page."""
    return tag("img", src=f"data:image/png;base64,{base64.b64encode(png).decode()}", alt=description)


def box(content: Element, label: str) -> Element:
    """A frame in which a wide table can be scrolled, by keyboard too."""
    return tag("div", content, class_="box", tabindex="0", role="region", aria_label=label)


def pairs(facts: Iterable[tuple[str, Content]]) -> Element:
    """Names and values side by side."""
    lines: list[Content] = []
    for name, value in facts:
        lines += [tag("dt", name), tag("dd", value)]
    return tag("dl", *lines, class_="pairs")
