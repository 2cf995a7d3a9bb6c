"""Draws tables as bars in one SVG: a panel for each table, a bar for each median, a line from lowest to highest."""
from xml.sax.saxutils import escape

from .rounds import Spread, number

WIDTH, BAR, GAP, LEFT, RIGHT, TITLE = 900, 16, 8, 370, 90, 44
STYLE = """  <style>
    .paper { fill: #ffffff; } .bar { fill: #9dbfce; } .ours { fill: #d98a5f; } .line { stroke: #555555; } text { fill: #222222; }
    .small { font-size: 12px; fill: #555555; }
    @media (prefers-color-scheme: dark) {
      .paper { fill: #1e2129; } .bar { fill: #3d6577; } .ours { fill: #b4653b; } .line { stroke: #b0b0b0; } text { fill: #eeeeee; }
      .small { fill: #b8b8b8; }
    }
  </style>"""


def draw(tables):
    panels, top = [], 12
    for table in tables:
        lines, height = panel(table, top)
        panels += lines
        top += height
    titles = escape("; ".join(table.title for table in tables))
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" font-family="system-ui, sans-serif" '
            f'font-size="14" role="img">\n  <title>{titles}</title>\n{STYLE}\n'
            f'  <rect class="paper" width="{WIDTH}" height="{top}" rx="8"/>\n')
    return head + "\n".join(panels) + "\n</svg>\n"


def panel(table, top):
    """The lines of one table's panel, and its height. Loaders without values are left out: the table names them."""
    measured = [row for row in table.rows if row.values]
    most = max((max(row.values) for row in measured), default=0) or 1
    direction = "more" if table.more_is_better else "less"
    lines = [f'  <text x="20" y="{top + 16}" font-weight="600">{escape(table.title)}</text>',
             f'  <text class="small" x="20" y="{top + 33}">{escape(table.unit)}, {direction} is better</text>']
    for place, row in enumerate(measured):
        lines += bar(row, most, top + TITLE + place * (BAR + GAP), table.references)
    return lines, TITLE + len(measured) * (BAR + GAP) + 12


def bar(row, most, top, references):
    scale = (WIDTH - LEFT - RIGHT) / most
    median, lowest, highest = (value * scale for value in Spread.of(row.values))
    kind = "ours" if row.name.startswith(tuple(name.split(",")[0] for name in references)) else "bar"
    middle = top + BAR / 2
    return [f'  <text x="{LEFT - 10}" y="{middle + 5}" text-anchor="end">{escape(row.name)}</text>',
            f'  <rect class="{kind}" x="{LEFT}" y="{top}" width="{median:.1f}" height="{BAR}"/>',
            f'  <path class="line" d="M{LEFT + lowest:.1f} {middle} L{LEFT + highest:.1f} {middle}"/>',
            f'  <text class="small" x="{LEFT + highest + 6:.1f}" y="{middle + 4}">{number(Spread.of(row.values).median)}</text>']
