"""Writes the tables of a benchmark as Markdown, JSON and a picture, and puts them into a page between its markers."""
import json
import re
import textwrap

from .chart import draw
from .rounds import Spread, number

COLUMNS = 120  # of a line of text


def with_spread(values):
    if len(values) < 2:
        return number(values[0]) if values else ""
    return "{} ({} to {})".format(*map(number, Spread.of(values)))


def table_markdown(table):
    """Columns for the values and, for each reference, its ratio to the row; a reference alone in its table needs none."""
    references = [name for name in table.references if any(table.ratios(row, name) for row in table.rows)]
    lines = [["loader" if references else "case", table.unit, *(f"{name}, relative to it" for name in references)]]
    lines.append(["---"] * len(lines[0]))
    for row in table.rows:
        lines.append([row.name, with_spread(row.values) or row.reason,
                      *(with_spread(table.ratios(row, name)) for name in references)])
    return "\n".join("| " + " | ".join(cell.replace("|", "/") for cell in line) + " |" for line in lines)


def section(name, tables, machine, rounds):
    """The Markdown of one benchmark, with its picture NAME.svg."""
    titles = "; ".join(table.title for table in tables)
    spread = "" if rounds == 1 else f" Median of {rounds} interleaved rounds; in brackets the lowest and the highest value."
    parts = [textwrap.fill(machine.describe() + spread, COLUMNS), f"![{titles}](bench_{name}.svg)"]
    for table in tables:
        parts += [textwrap.fill(f"**{table.title}.** {table.note}", COLUMNS), table_markdown(table)]
    return "\n\n".join(parts) + "\n"


def as_json(name, tables, machine, rounds):
    return json.dumps({"benchmark": name, "rounds": rounds, "machine": machine._asdict(), "tables": [
        {**table._asdict(), "rows": [{**row._asdict(), "relative": {
            name: table.ratios(row, name) for name in table.references}} for row in table.rows]}
        for table in tables]}, indent=1)


def write(folder, name, tables, machine, rounds):
    """Writes NAME.json, NAME.md and bench_NAME.svg into `folder`; returns the Markdown."""
    markdown = section(name, tables, machine, rounds)
    (folder / f"{name}.json").write_text(as_json(name, tables, machine, rounds), encoding="utf-8")
    (folder / f"{name}.md").write_text(markdown, encoding="utf-8")
    (folder / f"bench_{name}.svg").write_text(draw(tables), encoding="utf-8")
    return markdown


def replaced(page, name, markdown):
    """The page with the benchmark's section between its markers replaced. A page without the markers stays as it is."""
    begin, end = f"<!-- bench {name} -->\n", "<!-- end of bench -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    return pattern.sub(lambda _: begin + "\n" + markdown + "\n" + end, page, count=1)
