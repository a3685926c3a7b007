"""Tables as pages and files: HTML, Markdown, LaTeX and CSV."""

from figure_kedro.experiments.pages.csv_file import csv_text
from figure_kedro.experiments.pages.html import html_page
from figure_kedro.experiments.pages.latex import latex_document
from figure_kedro.experiments.pages.markdown_page import markdown_page

__all__ = ["csv_text", "html_page", "latex_document", "markdown_page"]
