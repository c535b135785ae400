"""The frame of every page and its looks; in light and in dark, nothing from elsewhere."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

_STYLE: Final = """
:root { color-scheme: light dark; --paper: #f4f5f7; --sheet: #fff; --ink: #1c2530; --soft: #566273;
  --line: #d9dee5; --go: #1a6b3f; --go-ink: #fff; --stop: #a1252b; --focus: #2257c5 }
@media (prefers-color-scheme: dark) { :root {
  --paper: #12161b; --sheet: #1b2128; --ink: #e8ecf1;
  --soft: #a3afbd; --line: #343d48; --go: #58c98b; --go-ink: #0b1c12; --stop: #ff9a9a;
  --focus: #8ab4ff; } }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif }
main { max-width: 40rem; margin: 3rem auto; padding: 0 1rem } main.wide { max-width: 60rem }
.sheet { background: var(--sheet); border: 1px solid var(--line); border-radius: .75rem;
  padding: 1.5rem; margin: 0 0 1.25rem }
h1 { font-size: 1.25rem; margin: 0 0 1rem } h2 { font-size: 1rem; margin: 0 0 .75rem }
.note { color: var(--soft); font-size: .875rem; margin: 0 0 1rem }
.amount { font-size: 2.25rem; font-weight: 650; margin: 0 0 1rem;
  font-variant-numeric: tabular-nums }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.5rem;
  margin: 0 0 1.25rem }
dt { color: var(--soft) } dd { margin: 0; overflow-wrap: anywhere }
.row { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end }
button { font: inherit; font-weight: 600; padding: 0 1.25rem; min-height: 2.5rem;
  border-radius: .5rem;
  border: 1px solid var(--line); background: transparent; color: var(--ink); cursor: pointer }
button.go { background: var(--go); border-color: var(--go); color: var(--go-ink) }
button.stop { color: var(--stop); border-color: currentColor }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px }
a { color: var(--focus) }
label { display: block; font-size: .875rem; color: var(--soft) }
input, select { display: block; font: inherit; color: var(--ink); background: var(--paper);
  border: 1px solid var(--line); border-radius: .375rem; padding: .4rem .6rem; width: 10rem;
  height: 2.5rem }
label.tick { display: flex; gap: .5rem; align-items: center; padding: .4rem 0 }
label.tick input { width: auto; height: auto }
details { margin: 1.25rem 0 0; border-top: 1px solid var(--line); padding-top: 1rem }
summary { cursor: pointer; font-weight: 600; margin-bottom: .75rem }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(11rem, 1fr)); gap: .75rem;
  align-items: end }
.scroll { overflow-x: auto } table { border-collapse: collapse; width: 100%; font-size: .9rem }
th, td { text-align: left; padding: .4rem .9rem .4rem 0; border-bottom: 1px solid var(--line);
  white-space: nowrap } th { color: var(--soft); font-weight: 500 }
td.number { text-align: right; font-variant-numeric: tabular-nums }
"""


def table(
    title: str, names: Sequence[str], rows: Sequence[Sequence[str]], *, escaped: bool = False
) -> str:
    """A section with a table; `escaped` cells are markup already."""
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    body = "".join(
        f"<tr>{''.join(f'<td>{cell if escaped else escape(cell)}</td>' for cell in row)}</tr>"
        for row in rows
    )
    empty = "" if rows else '<p class="note">None yet.</p>'
    return (
        f'<section class="sheet"><h2>{title}</h2>{empty}<div class="scroll" tabindex="0"'
        f' role="region" aria-label="{title}"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div></section>"
    )


def hidden(fields: Mapping[str, str]) -> str:
    """Fields that nobody sees."""
    return "".join(
        f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'
        for name, value in fields.items()
    )


def page(title: str, content: str, *, wide: bool = False) -> str:
    """The whole document."""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{escape(title)} - provider simulator</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head>
<body><main{' class="wide"' if wide else ""}><p class="note">Provider simulator: no money moves</p>
{content}</main></body></html>"""
