"""Words that readers whose second language is English trip over, in comments and in docs."""

import re

WORDS = re.compile(r"\b(anew|but for|whoever|whosoever|beside|mend(?:s|ed|ing)?|parted|at hand|be it|is to be|are to be|"
                   r"in vain|amid|hence|thereof|wherein|stands?|stood|whence|thence|thereby|therein|whom|alike|of old|"
                   r"forth|told|lets? go|knocks?|for ever|under way|nought)\b", re.IGNORECASE)
COMMENT = {
    ".py": re.compile(r'(?:^|\s)#(.*)|^\s*"""(.*)'),
    ".sh": re.compile(r"(?:^|\s)#(.*)"),
    ".cmake": re.compile(r"(?:^|\s)#(.*)"),
    ".md": re.compile(r"(.*)"),
    **dict.fromkeys((".cc", ".h", ".hpp", ".cu", ".proto"), re.compile(r"(?://|/\*|^\s*\*)(.*)")),
}


def comment_lines(tree, file):
    """Number and text of each line that holds a comment, or prose."""
    pattern = COMMENT.get(file.suffix)
    if pattern:
        for number, line in enumerate(tree.lines(file), 1):
            match = pattern.search(line)
            if match:
                yield number, " ".join(filter(None, match.groups()))


def breaches(tree, files):
    """How many lines of comment there are, and those with a word to avoid."""
    count, found = 0, []
    for file in files:
        for number, text in comment_lines(tree, file):
            count += 1
            match = WORDS.search(text)
            if match:
                found.append(f"{file}:{number}: '{match.group(0)}': {text.strip()}")
    return count, found
