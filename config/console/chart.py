"""Charts as bars: drawn here, so that no script of the page's has to; each has its table below."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

#: Charts of one kind; what else there is, is named.
CHARTS_MAX: Final = 6
_HEIGHT: Final = 100.0
#: A column is this wide, in the units of the drawing.
_COLUMN_WIDTH: Final = 10
#: Where in its column a kind of bar stands, and how wide it is: a total stands behind its parts.
_PLACES: Final[Mapping[str, tuple[int, int]]] = {
    "all": (1, 8),
    "paid": (1, 4),
    "refunded": (5, 4),
}


class Column(NamedTuple):
    """One hour or day: the height of each bar, and what is said when it is pointed at."""

    says: str
    bars: Mapping[str, int]


class Chart(NamedTuple):
    """`keys` say what each kind of bar is and comes to, `top` what the highest stands for."""

    title: str
    link: str
    keys: Sequence[tuple[str, str]]
    columns: Sequence[Column]
    top: str
    table: SafeString


class _Bar(NamedTuple):
    """A rectangle, in the units of the drawing."""

    kind: str
    x: int
    width: int
    y: float
    height: float


class Ends(NamedTuple):
    """What stands below the first column and the last."""

    first: str
    last: str


def highest(columns: Iterable[Column]) -> int:
    """What the highest bar stands for."""
    return max(0, *(number for column in columns for number in column.bars.values()))


def draw(charts: Sequence[Chart], ends: Ends, *, others: str, nothing: str) -> SafeString:
    """The charts side by side; `nothing` says why there may be none, `others` what else is."""
    context = {
        "charts": [_drawn(chart) for chart in charts],
        "others": others,
        "nothing": nothing,
        "ends": ends,
        "column_width": _COLUMN_WIDTH,
        "height": _HEIGHT,
    }
    return render_to_string("console/chart.html", context)


def _drawn(chart: Chart) -> dict[str, Any]:
    heights = [number for column in chart.columns for number in column.bars.values()]
    top, bottom = max(0, *heights), min(0, *heights)
    scale = _HEIGHT / ((top - bottom) or 1)
    return {
        "title": chart.title,
        "link": chart.link,
        "keys": chart.keys,
        "top": chart.top,
        "table": chart.table,
        "width": len(chart.columns) * _COLUMN_WIDTH,
        "zero": f"{top * scale:.2f}",
        "columns": [
            {
                "x": number * _COLUMN_WIDTH,
                "says": column.says,
                "bars": [
                    _bar(kind, number * _COLUMN_WIDTH, height, top, scale)
                    for kind, height in column.bars.items()
                    if height
                ],
            }
            for number, column in enumerate(chart.columns)
        ],
    }


def _bar(kind: str, x: int, number: int, top: int, scale: float) -> _Bar:
    # One that is not nought is seen, however small beside the others.
    height = max(abs(number) * scale, 0.75)
    place, width = _PLACES[kind]
    return _Bar(kind, x + place, width, top * scale - (height if number > 0 else 0), height)
