"""The house rules that a machine can check: modules, sizes, names, words, places. One check per run, one line per breach."""

import argparse
import ast
import pathlib
import re
import subprocess
import sys

import circles
import classes
import words
from tree import CODE, Tree

SKIPPED = 77  # as ctest is told

TOP_LEVEL = {"daemon", "client", "proto", "deploy", "tests", "docs", "CMakeLists.txt",
             "CMakePresets.json", "Dockerfile", "README.md", "LICENSE"}
CLIENT_HEADERS = ("echoline/echoline.h", "echoline/echoline.hpp")
FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70
CLASS_LINES_MAX = 250  # its declaration and all of its methods
KNOT_UNITS_MAX = 2     # a unit: a header with its .cc file
ODD_WORDS_MAX = 3      # in 1,000 lines of comment
EMPTY_WORDS = {"util", "utils", "helper", "helpers", "common", "misc", "manager", "impl"}
# Libraries that no header shows, so that they can be replaced.
HIDDEN_LIBRARIES = re.compile(r"(curl/|avif/|jpeglib|turbojpeg|png\.h|webp/|grpcpp/|prometheus/|cuda(?!/))")
MACHINE_PATHS = re.compile(r"/(wor[k]|far[m]|roo[t])/|[.]librar[y]/|/tmp/brie[f]")


def check_modules(tree):
    """A module includes only the modules that it uses; daemon and client share nothing except proto."""
    modules = tree.modules()
    folders = {"daemon/" + name for name in modules}
    for file in tree.code(".cc", ".h", ".hpp"):
        module = "/".join(file.parts[1:-1]) if file.parts[0] == "daemon" else None
        if module and module not in modules:
            yield f"{file}: its folder is no module of daemon/CMakeLists.txt"
        allowed = {module, *modules.get(module, ())}
        for number, name in tree.includes(file):
            included = name.rpartition("/")[0]
            where = f"{file}:{number}: includes {name}"
            if module and included in modules and included not in allowed:
                yield f"{where}, but {module} does not use {included}"
            if module != "cli" and file.parts[0] == "daemon" and name in CLIENT_HEADERS:
                yield f"{where}, but only daemon/cli is a client of the client library"
            if file.parts[0] == "client" and "daemon/" + included in folders:
                yield f"{where}, but client and daemon share only proto"
            if file.parts[0] == "proto" and (included in modules or name in CLIENT_HEADERS):
                yield f"{where}, but proto is below everything"
    declared = []
    for name, uses in modules.items():
        for used in uses:
            if used not in declared:
                yield f"daemon/CMakeLists.txt: {name} uses {used}, which is not declared before it"
        declared.append(name)


def check_circles(tree):
    """No circle of headers, none of folders, and no knot of units (a header with its .cc file)."""
    for name, name_of, size_max in (("headers", circles.headers, 1), ("folders", circles.folders, 1),
                                    ("units", circles.units, KNOT_UNITS_MAX)):
        for component in circles.components(circles.include_graph(tree, name_of)):
            if len(component) > size_max:
                yield f"circle of {len(component)} {name}: " + ", ".join(component)


def check_libraries(tree):
    """Replaceable libraries stay out of headers."""
    for file in tree.code(".h", ".hpp"):
        if file.parts[0] in ("daemon", "client"):
            for number, name in tree.includes(file):
                if HIDDEN_LIBRARIES.match(name):
                    yield f"{file}:{number}: shows {name} to every user; include it in a .cc file"


# libmemcached's calls have no deadline of their own, so a watchdog thread ends them.
THREADS_ALLOWED = {"daemon/cache/fleet_cache.h"}
# Modules below these are passive: they get their threads from the engine.
THREADED = re.compile(r"(engine|serve|top|pack|cli)(/|$)")


def check_threads(tree):
    """Only the engine and what is above it starts threads."""
    start = re.compile(r"\bstd::(jthread|thread|async)\b(?!::)")
    for file in tree.code(".cc", ".h"):
        passive = file.parts[0] == "daemon" and len(file.parts) > 2 and not THREADED.match(file.parts[1])
        if passive and str(file) not in THREADS_ALLOWED:
            for number, line in enumerate(tree.lines(file), 1):
                if start.search(line.split("//")[0]):
                    yield f"{file}:{number}: a passive module starts a thread; take work as a parameter"


def check_locks(tree):
    """The daemon's locks are those of base/mutex.h: clang checks their use, and not that of std::mutex."""
    unchecked = re.compile(r"\bstd::(\w*mutex|lock_guard|unique_lock|scoped_lock|shared_lock|condition_variable\w*)\b")
    for file in tree.code(".cc", ".h"):
        if file.parts[0] == "daemon" and str(file) != "daemon/base/mutex.h":
            for number, line in enumerate(tree.lines(file), 1):
                found = unchecked.search(line.split("//")[0])
                if found:
                    yield f"{file}:{number}: {found[0]}; take Mutex, MutexLock or CondVar of base/mutex.h"


def check_classes(tree):
    """A class has at most 250 lines, its methods included."""
    for (folder, name), count in sorted(classes.class_lines(tree).items()):
        if count > CLASS_LINES_MAX:
            yield f"{folder}: class {name} has {count} lines in all files, at most {CLASS_LINES_MAX}"


def check_words(tree):
    """Comments and docs use plain words: at most 3 odd ones in 1,000 lines of comment."""
    for names in (("daemon", "client", "proto", "tests", "deploy"), ("docs", "README.md")):
        count, found = words.breaches(tree, [file for file in tree.files if file.parts[0] in names and
                                             file.parts[:2] != ("tests", "tidy")])
        if len(found) * 1000 > ODD_WORDS_MAX * count:
            yield from found
            yield f"{len(found)} in {count} lines; at most {ODD_WORDS_MAX} in 1,000"


def check_sizes(tree):
    """Files have at most 500 lines, functions at most 70."""
    for file in tree.code():
        lines = tree.lines(file)
        if len(lines) > FILE_LINES_MAX:
            yield f"{file}: {len(lines)} lines; probably two things, at most {FILE_LINES_MAX}"
        find = python_functions if file.suffix == ".py" else cpp_functions
        for begin, end in find(lines) if file.suffix in (".py", ".cc", ".h", ".hpp") else []:
            if end - begin + 1 > FUNCTION_LINES_MAX:
                yield f"{file}:{begin}: a function of {end - begin + 1} lines, at most {FUNCTION_LINES_MAX}"


def python_functions(lines):
    """First line of each function, and the last one if it had no docstring."""
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            text = node.body[0] if ast.get_docstring(node) else None
            yield node.lineno, node.end_lineno - (text.end_lineno - text.lineno + 1 if text else 0)


def cpp_functions(lines):
    """First and last line of each function, by the indentation that clang-format gives."""
    not_a_function = re.compile(r"^\s*(namespace|class|struct|enum|union|extern|using|typedef|//|#|\})")
    open_at = {}
    head = None  # (indentation, number) of a line whose parameters go on in the next lines
    for number, line in enumerate(lines, 1):
        indent = len(line) - len(line.lstrip())
        if not line.strip():
            continue
        if indent <= 2:
            if re.match(r"^\s*\}", line) and indent in open_at:
                yield open_at.pop(indent), number
            head = (indent, number) if "(" in line and not not_a_function.match(line) else None
        is_lambda = indent > 2 and "[" in line
        if head and line.endswith("{") and ")" in line and not is_lambda:
            open_at.setdefault(*head)
        if line.endswith((";", "{", "}")) or is_lambda:
            head = None


def check_names(tree):
    """No file or type is named by a word that says nothing; test cases are named in one style."""
    said = re.compile(r"^\s*(?:class|struct|enum class)\s+\w*(Util|Helper|Common|Misc|Manager|Impl)s?\b")
    for file in tree.files:
        for part in file.parts:
            empty = EMPTY_WORDS & set(re.split(r"[^a-z]+", part.lower()))
            if empty:
                yield f"{file}: '{empty.pop()}' says nothing; name it after what it does"
    for file in tree.code(".cc", ".h", ".hpp"):
        for number, line in enumerate(tree.lines(file), 1):
            if said.match(line):
                yield f"{file}:{number}: a type's name that says nothing: {line.strip()}"
        for case in re.findall(r"^TEST(?:_F|_P)?\(\s*\w+,\s*([a-z]\w*)", "\n".join(tree.lines(file)), re.M):
            yield f"{file}: the name of test case '{case}' is not in UpperCamelCase"


def check_places(tree):
    """The top level holds what it should, and no file names one machine's paths."""
    for top in sorted({file.parts[0] for file in tree.files}):
        if top not in TOP_LEVEL and not top.startswith("."):
            yield f"{top}: has no place at the top level"
    for file in tree.files:
        for number, line in enumerate(tree.lines(file), 1):
            if MACHINE_PATHS.search(line):
                yield f"{file}:{number}: names a path of one machine"


# The last one is that of a header that Highway includes once for each kind of CPU ("-inl.h").
GUARDS = ("#pragma once", "#ifndef ECHOLINE_", "#if defined(ECHOLINE_")


def check_headers(tree):
    """Headers begin by saying what they are for, and are guarded."""
    for file in tree.code(".h", ".hpp"):
        lines = tree.lines(file)
        if not lines or not lines[0].startswith(("//", "/*")):
            yield f"{file}:1: does not begin with what the file is for"
        if file.parts[0] != "proto" and not any(line.startswith(GUARDS) for line in lines):
            yield f"{file}: has no include guard"


def check_unfinished(tree):
    """Nothing is left for later in a comment."""
    words = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    for file in tree.code():
        if file.parts[:2] != ("tests", "tidy"):
            for number, line in enumerate(tree.lines(file), 1):
                if words.search(line):
                    yield f"{file}:{number}: unfinished by its own words"


def check_format(tree):
    """clang-format 14 would change nothing (other versions format differently)."""
    try:
        version = subprocess.run(["clang-format", "--version"], capture_output=True, check=True).stdout
    except (FileNotFoundError, subprocess.CalledProcessError):
        version = b""
    if b"version 14." not in version:
        print("clang-format 14 is not here: nothing checked")
        sys.exit(SKIPPED)
    files = [str(file) for file in tree.code(".cc", ".h", ".hpp")]
    run = subprocess.run(["clang-format", "--dry-run", "--Werror", *files], cwd=tree.root,
                         capture_output=True, text=True, check=False)
    for line in run.stderr.splitlines():
        if ": error:" in line:
            yield line


CHECKS = {name.removeprefix("check_"): check for name, check in dict(globals()).items()
          if name.startswith("check_")}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("check", choices=[*CHECKS, "all"])
    parser.add_argument("--root", default=pathlib.Path(__file__).resolve().parents[2])
    options = parser.parse_args()
    tree = Tree(options.root)
    names = list(CHECKS) if options.check == "all" else [options.check]
    breaches = [breach for name in names for breach in CHECKS[name](tree)]
    print("\n".join(breaches) if breaches else f"{len(tree.files)} files: nothing found")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
