"""How the HTML page looks: light and dark, wide and narrow, and on paper."""

STYLE = """
:root {
  color-scheme: light dark;
  --page: #ffffff; --text: #1c1f24; --muted: #5d6570; --line: #d9dde3; --raised: #f4f6f8;
  --accent: #1f5fbf; --failed: #b3261e; --stale: #8a5a00; --shade: rgb(0 0 0 / 0.22);
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171b; --text: #e6e8eb; --muted: #9aa4b0; --line: #343a42; --raised: #1d2127;
    --accent: #8ab4f8; --failed: #f2867d; --stale: #e0b060; --shade: rgb(255 255 255 / 0.22);
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem clamp(0.75rem, 2.5vw, 2.5rem) 4rem; max-width: 100rem;
  background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  overflow-wrap: anywhere;
}
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 1rem; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 0 0 0.35rem; }
a { color: var(--accent); }
section { margin-top: 2.5rem; scroll-margin-top: 1rem; }
.index { padding-left: 1.5rem; margin: 0; }
.index small, .notes, .failures, .how { color: var(--muted); }
.how { font-size: 0.875rem; margin: 0.75rem 0 0; }
sup { line-height: 0; }
.caption, .notes, .failures, .how { max-width: 75ch; }
.caption { margin: 0 0 0.75rem; }
.notes, .failures { font-size: 0.875rem; margin: 0.75rem 0 0; padding-left: 1.5rem; }
.notes { padding-left: 0; }
code { font: 0.9em/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }

.box {
  overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; width: fit-content; max-width: 100%;
  scroll-padding-left: 14rem; scrollbar-width: thin;
  background: /* a shadow at the right edge as long as there is more to scroll to */
    linear-gradient(to left, var(--page) 40%, transparent) right / 3rem 100% no-repeat local,
    linear-gradient(to left, var(--shade), transparent) right / 1.5rem 100% no-repeat scroll;
}
.box:focus-visible, button:focus-visible, a:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
table { border-collapse: separate; border-spacing: 0; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
th, td {
  padding: 0.4rem 0.6rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top;
  overflow-wrap: normal;
}
tbody tr:last-child > * { border-bottom: 0; }
thead > tr > * { background: var(--raised); vertical-align: bottom; font-weight: 600; }
thead th { min-width: 5rem; max-width: 11rem; overflow-wrap: break-word; }
tr > :first-child {
  position: sticky; left: 0; z-index: 1; text-align: left; font-weight: 500; background: var(--page);
  border-right: 1px solid var(--line);
}
.title { width: max-content; max-width: 12rem; overflow-wrap: break-word; }
table:has(td.picture) thead th { text-align: left; }
thead tr > :first-child { background: var(--raised); }
td { white-space: nowrap; }
td.words { white-space: normal; min-width: 9rem; }
td.picture { white-space: normal; text-align: left; }
td.picture img { display: block; width: 22rem; height: auto; background: #fff; border-radius: 4px; }
td.picture.alone img { width: auto; max-width: min(60rem, calc(100vw - 4rem)); }
td.stale img { filter: grayscale(1); }
.small { display: block; font-size: 0.75rem; line-height: 1.35; color: var(--muted); }
.unit, .none { color: var(--muted); }
.beside { max-width: 9rem; margin-left: auto; white-space: normal; }
.stale s, .stale .words { color: var(--muted); }
.flag { font-size: 0.75rem; color: var(--stale); }
.failed .flag { font-size: inherit; color: var(--failed); }
.second { text-decoration: underline; text-decoration-thickness: 1.5px; text-underline-offset: 3px; }
button {
  all: unset; cursor: pointer; border-radius: 3px; padding: 0 0.2rem; margin: 0 -0.2rem;
}
button:hover { background: var(--raised); }
td.picture button, .none button { color: var(--muted); font-size: 0.75rem; }

.about {
  position: fixed; inset: auto 0 1rem 0; margin: 0 auto;
  width: fit-content; max-width: min(38rem, calc(100vw - 1.5rem));
  max-height: 70vh; overflow: auto; padding: 0.75rem 1rem; border: 1px solid var(--line); border-radius: 6px;
  background: var(--page); color: var(--text); box-shadow: 0 4px 24px rgb(0 0 0 / 0.28);
  font-size: 0.85rem; font-weight: 400; text-align: left; white-space: normal; overflow-wrap: anywhere;
}
.about strong { display: block; margin-bottom: 0.4rem; }
.about dl { display: grid; grid-template-columns: auto 1fr; gap: 0.2rem 0.9rem; margin: 0; }
.about dt { color: var(--muted); white-space: nowrap; }
.about dd { margin: 0; white-space: pre-line; }
@supports not selector(:popover-open) { .about { display: none; } }

@media (max-width: 40rem) {
  h1 { font-size: 1.35rem; }
  h2 { font-size: 1.1rem; }
  table { font-size: 0.85rem; }
  th, td { padding: 0.35rem 0.55rem; }
  .title { max-width: 7.5rem; }
  .box { scroll-padding-left: 9.5rem; }
  td.picture img { width: 15rem; }
}
@media print {
  :root {
    color-scheme: light; --page: #fff; --text: #000; --muted: #444; --line: #bbb; --raised: #f2f2f2; --accent: #000;
    --failed: #8c1d18; --stale: #6b4600;
  }
  @page { size: A4 landscape; margin: 12mm; }
  body { padding: 0; font-size: 9.5pt; }
  .box { overflow: visible; background: none; border: 0; width: auto; }
  table { font-size: 7.5pt; }
  .notes, .failures { font-size: 8pt; max-width: none; }
  .box:focus-visible, button:focus-visible { outline: 0; }
  .second { text-decoration-thickness: 0.7px; text-underline-offset: 1.5px; }
  th, td { padding: 2pt 3pt; }
  .small, .flag { font-size: 6.5pt; }
  thead th { min-width: 0; }
  tr > :first-child { position: static; }
  .title { max-width: 40mm; }
  tr, img { break-inside: avoid; }
  h2, .caption { break-after: avoid; }
  section { break-inside: avoid; }
  td.picture img { width: 75mm; }
  td.picture.alone img { width: auto; max-width: 160mm; max-height: 130mm; }
  td.picture button, .how, .about { display: none; }
}
"""

RUN_STYLE = """
main { max-width: 68rem; margin: 0 auto; }
h3 { font-size: 1rem; margin: 0.75rem 0 0.25rem; }
pre {
  margin: 0.5rem 0; padding: 0.6rem 0.8rem; background: var(--raised); border: 1px solid var(--line);
  border-radius: 6px; white-space: pre-wrap;
}
.pairs { display: grid; grid-template-columns: minmax(9rem, max-content) 1fr; gap: 0.2rem 1.2rem; margin: 0.4rem 0; }
.pairs dt { color: var(--muted); }
.pairs dd { margin: 0; }
.pairs strong { font-size: 1.15rem; }
td.text, th.text { text-align: left; }
.figures { display: flex; flex-wrap: wrap; gap: 0.75rem 1.5rem; align-items: flex-end; }
figure { margin: 0; flex: 0 1 32rem; min-width: min(24rem, 100%); }
figure img { display: block; max-width: 100%; max-height: 28rem; background: #fff; border-radius: 4px; }
figcaption { font-size: 0.875rem; color: var(--muted); margin-top: 0.2rem; }
.settings { columns: 20rem; column-gap: 2rem; }
.settings > div { break-inside: avoid; padding-bottom: 0.5rem; }
.settings .pairs { grid-template-columns: minmax(7rem, max-content) minmax(4rem, 1fr); }
.settings h3 { margin-top: 0; }
@media (max-width: 40rem) {
  .pairs { grid-template-columns: minmax(5rem, 50%) 1fr; gap: 0.2rem 0.8rem; }
  .pairs:has(dd:first-of-type > code:only-child) { grid-template-columns: 1fr; gap: 0; }
  .pairs:has(dd:first-of-type > code:only-child) dd { margin-bottom: 0.35rem; }
}
@media print {
  @page { size: A4 portrait; margin: 14mm; }
  main { max-width: none; }
  section { break-inside: auto; margin-top: 1.2rem; }
  .figures { display: block; }
  figure { display: inline-block; break-inside: avoid; width: 87mm; min-width: 0; margin: 1mm; }
  dt, dd { break-inside: avoid; }
}
"""
"""What the page of a single run adds."""
