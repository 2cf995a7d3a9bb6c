"""The pages of the book and their fenced code blocks, and the notebooks."""
import json
import pathlib
import re
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


class Block(NamedTuple):
    """A fenced block: its page's name, line, language ("" for none) and text."""
    page: str
    line: int
    language: str
    text: str

    def __str__(self):
        return f"{self.page}:{self.line}"

    @property
    def first_line(self):
        return self.text.split("\n", 1)[0].strip()


def pages():
    """README.md of the repository, as "../README.md", and every page of docs/."""
    return [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]


def name_of(page):
    return page.name if page.parent == DOCS else f"../{page.name}"


def blocks_of(page):
    """The fenced blocks of one page, in order."""
    blocks, fence, begin, lines, language = [], None, 0, [], ""
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        mark = re.match(r"( *)(```+) *(\w*)", line)
        if fence is None and mark:
            fence, begin, lines, language = mark, number, [], mark.group(3)
        elif fence is not None and mark and mark.group(2) == fence.group(2) and not mark.group(3):
            blocks.append(Block(name_of(page), begin, language, "\n".join(lines) + "\n"))
            fence = None
        elif fence is not None:
            lines.append(line.removeprefix(fence.group(1)))
    if fence is not None:
        raise ValueError(f"{page}:{begin}: this block has no end")
    return blocks


def notebooks():
    """Each notebook as one block: its cells follow each other in one interpreter."""
    for path in sorted((ROOT / "client" / "examples").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        yield Block(path.name, 1, "python", "\n".join("".join(cell["source"]) for cell in cells if
                                                      cell["cell_type"] == "code") + "\n")
