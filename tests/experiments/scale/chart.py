"""Draws lines over numbers of hosts as one SVG, without any library."""
import dataclasses
import math
from xml.sax.saxutils import escape

WIDTH, PLOT, LEFT, RIGHT, HEIGHT, TITLE, LEGEND = 900, 500, 70, 330, 250, 44, 22
COLOURS = ("#d98a5f", "#3f7f9f", "#8a6fb0", "#5f9f6a", "#b0853f", "#c05a78")
STYLE = """  <style>
    .paper { fill: #ffffff; } .axis { stroke: #999999; stroke-width: 1; fill: none; } text { fill: #222222; }
    .small { font-size: 12px; fill: #555555; }
    @media (prefers-color-scheme: dark) {
      .paper { fill: #1e2129; } text { fill: #eeeeee; } .small { fill: #b8b8b8; }
    }
  </style>"""


@dataclasses.dataclass(frozen=True)
class Panel:
    """`rows`: name and values of each line; `is_log`: of the vertical axis, which else begins with 0."""
    title: str
    rows: dict
    is_log: bool


def draw(hosts, panels):
    lines, top = [], 12
    for panel in panels:
        lines += _panel(hosts, panel, top)
        top += TITLE + HEIGHT + 40
    titles = escape("; ".join(panel.title for panel in panels))
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" font-family="system-ui, sans-serif" '
            f'font-size="14" role="img">\n  <title>{titles}</title>\n{STYLE}\n'
            f'  <rect class="paper" width="{WIDTH}" height="{top}" rx="8"/>\n')
    return head + "\n".join(lines) + "\n</svg>\n"


def _panel(hosts, panel, top):
    plot_top, bottom = top + TITLE, top + TITLE + HEIGHT
    across = _scale(math.log10(hosts[0]), math.log10(hosts[-1]), LEFT, LEFT + PLOT)
    values = [value for row in panel.rows.values() for value in row]
    marks, up = _vertical(values, panel.is_log, bottom, plot_top)
    lines = [f'  <text x="20" y="{top + 16}" font-weight="600">{escape(panel.title)}</text>',
             f'  <path class="axis" d="M{LEFT} {plot_top} V{bottom} H{LEFT + PLOT}"/>']
    for mark in marks:
        lines.append(f'  <text class="small" x="{LEFT - 8}" y="{up(mark) + 4:.1f}" text-anchor="end">{mark:,g}</text>')
    for power in range(round(math.log10(hosts[0])), round(math.log10(hosts[-1])) + 1):
        lines.append(f'  <text class="small" x="{across(power):.1f}" y="{bottom + 18}" text-anchor="middle">'
                     f'{10 ** power:,}</text>')
    lines.append(f'  <text class="small" x="{LEFT + PLOT + 34}" y="{bottom + 18}">hosts</text>')
    for place, (name, row) in enumerate(panel.rows.items()):
        points = " ".join(f"{across(math.log10(number)):.1f},{up(value):.1f}" for number, value in zip(hosts, row))
        colour, y = COLOURS[place % len(COLOURS)], plot_top + 14 + place * LEGEND
        lines += [f'  <polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>',
                  f'  <path d="M{LEFT + PLOT + 20} {y - 4} h24" stroke="{colour}" stroke-width="2.5"/>',
                  f'  <text class="small" x="{LEFT + PLOT + 50}" y="{y}">{escape(name)}</text>']
    return lines


def _scale(low, high, first, last):
    return lambda value: first + (value - low) / (high - low) * (last - first)


def _vertical(values, is_log, bottom, top):
    """The marks of the axis, and the place of a value."""
    if not is_log:
        return [0, 0.25, 0.5, 0.75, 1], _scale(0, max(1, *values), bottom, top)
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    place = _scale(low, high, bottom, top)
    return [10.0 ** power for power in range(low, high + 1)], lambda value: place(math.log10(value))
