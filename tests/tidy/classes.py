"""How large classes are: the lines of their declaration and of their methods' definitions, in all files together."""

import collections
import re

DECLARATION = re.compile(r"^(\s*)(?:class|struct)\s+(?:\[\[\w+\]\]\s+)?(\w+)(?:\s+final)?(?:\s*:[^:].*)?\s*\{")
DEFINITION = re.compile(r"^[\w:<>,&*\s\[\]~()]*?\b(\w+)(?:<[^>]*>)?::~?(?:\w+|operator.+?)\(")
CONTINUED = re.compile(r"^\s+|^\)")


def class_lines(tree):
    """(folder, class) -> (lines, number of definitions); nested classes count for themselves and their owner."""
    sizes = collections.Counter()
    for file in tree.code(".cc", ".h", ".hpp"):
        if file.parts[0] in ("daemon", "client"):
            lines = tree.lines(file)
            for name, count in (*declarations(lines), *definitions(lines)):
                sizes[(str(file.parent), name)] += count
    return sizes


def declarations(lines):
    for begin, line in enumerate(lines):
        match = DECLARATION.match(line)
        if match and not line.rstrip().endswith("};"):
            end = next((n for n in range(begin + 1, len(lines))
                        if lines[n].startswith(match.group(1) + "}")), begin)
            yield match.group(2), end - begin + 1


def definitions(lines):
    """Definitions outside the class: `Type Name::method(...) {` at the margin up to `}` at the margin."""
    for begin, line in enumerate(lines):
        match = DEFINITION.match(line) if line[:1].strip() else None
        if match and not line.startswith(("using", "namespace", "//", "#", "}")):
            end = next((n for n in range(begin, len(lines)) if lines[n].startswith("}") or
                        lines[n].rstrip().endswith((";", "}")) and not lines[n].startswith(" ")), begin)
            yield match.group(1), end - begin + 1
