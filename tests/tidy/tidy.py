"""The house rules that a machine can check: floors, sizes, names, places. One check a run, a line a breach."""

import argparse
import ast
import pathlib
import re
import shutil
import subprocess
import sys

SKIPPED = 77  # as ctest is told

# Bottom to top; a room includes base, proto and what stands before it.
ROOMS = ["base", "config", "source", "cache", "record", "plan", "decode", "augment", "echo", "batch",
         "ring", "engine", "serve", "top", "cli"]
TOP_LEVEL = {"daemon", "client", "proto", "deploy", "tests", "docs", "CMakeLists.txt",
             "CMakePresets.json", "Dockerfile", "README.md", "LICENSE"}
CLIENT_HEADERS = ("echoline/echoline.h", "echoline/echoline.hpp")
CODE = {".cc", ".h", ".hpp", ".cu", ".py", ".proto", ".sh", ".cmake"}
FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70
EMPTY_WORDS = {"util", "utils", "helper", "helpers", "common", "misc", "manager", "impl"}
# Libraries that no header of a room shows, so that they stay exchangeable.
HIDDEN_LIBRARIES = re.compile(r"(curl/|jpeglib|turbojpeg|png\.h|grpcpp/|prometheus/|cuda(?!/))")
MACHINE_PATHS = re.compile(r"/(wor[k]|far[m]|roo[t])/|[.]librar[y]/|/tmp/brie[f]")
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')


class Tree:
    """The repository's files: those git knows or would add; all but builds where there is no git."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        names = self._known_to_git() or [
            str(path.relative_to(self.root)) for path in self.root.rglob("*")
            if path.is_file() and not path.relative_to(self.root).parts[0].startswith(("build", ".git"))
            and path.parent.name != "__pycache__"]
        self.files = sorted(pathlib.PurePosixPath(name) for name in set(names)
                            if (self.root / name).is_file())

    def _known_to_git(self):
        if not (self.root / ".git").exists() or not shutil.which("git"):
            return []
        git = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                             cwd=self.root, capture_output=True, check=False)
        return [name for name in git.stdout.decode().split("\0") if name]

    def code(self, *suffixes):
        return [file for file in self.files if file.suffix in (suffixes or CODE)]

    def lines(self, file):
        return (self.root / file).read_text(encoding="utf-8", errors="replace").splitlines()

    def includes(self, file):
        for number, line in enumerate(self.lines(file), 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(1)


def check_floors(tree):
    """A room includes only rooms upstream of it; daemon and client share nothing but proto."""
    for file in tree.code(".cc", ".h", ".hpp"):
        for number, name in tree.includes(file):
            first = name.split("/")[0]
            where = f"{file}:{number}: includes {name}"
            if file.parts[0] == "daemon":
                room = file.parts[1] if len(file.parts) > 2 else None
                if room in ROOMS and first in ROOMS and "/" in name and ROOMS.index(first) > ROOMS.index(room):
                    yield f"{where}, but {first} stands downstream of {room}"
                if name in CLIENT_HEADERS and room != "cli":
                    yield f"{where}, but only daemon/cli is a client of the client library"
            if file.parts[0] == "client" and first in ROOMS and "/" in name:
                yield f"{where}, but client and daemon share only proto"
            if file.parts[0] == "proto" and (first in ROOMS or name in CLIENT_HEADERS):
                yield f"{where}, but proto stands below everything"


def resolve(tree, file, name):
    """The repository's file that an include means, or None for a library's."""
    known = tree.known
    for candidate in (file.parent / name, pathlib.PurePosixPath("daemon") / name,
                      pathlib.PurePosixPath("proto") / name,
                      pathlib.PurePosixPath("client/include") / name,
                      pathlib.PurePosixPath("client/src") / name):
        if candidate in known:
            return candidate
    return None


def check_circles(tree):
    """No header includes itself through others."""
    tree.known = set(tree.files)
    graph = {file: [target for _, name in tree.includes(file)
                    if (target := resolve(tree, file, name)) is not None]
             for file in tree.code(".cc", ".h", ".hpp")}
    done, path = set(), []

    def visit(file):
        if file in path:
            yield "include circle: " + " -> ".join(map(str, path[path.index(file):] + [file]))
            return
        if file in done:
            return
        path.append(file)
        for target in graph.get(file, []):
            yield from visit(target)
        path.pop()
        done.add(file)

    for file in graph:
        yield from visit(file)


def check_libraries(tree):
    """Exchangeable libraries stay out of the rooms' headers."""
    for file in tree.code(".h", ".hpp"):
        if file.parts[0] in ("daemon", "client"):
            for number, name in tree.includes(file):
                if HIDDEN_LIBRARIES.match(name):
                    yield f"{file}:{number}: shows {name} to everybody; include it in a .cc file"


# A watchdog over libmemcached's calls, which have no deadline of their own, also while it opens and closes.
THREADS_ALLOWED = {"daemon/cache/fleet_cache.h"}


def check_threads(tree):
    """Only engine and what stands above it starts threads."""
    start = re.compile(r"\bstd::(jthread|thread|async)\b(?!::)")
    passive = ROOMS[:ROOMS.index("engine")]
    for file in tree.code(".cc", ".h"):
        passive_room = file.parts[0] == "daemon" and len(file.parts) > 2 and file.parts[1] in passive
        if passive_room and str(file) not in THREADS_ALLOWED:
            for number, line in enumerate(tree.lines(file), 1):
                if start.search(line.split("//")[0]):
                    yield f"{file}:{number}: a passive room starts a thread; take work as a parameter"


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
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno


def cpp_functions(lines):
    """First and last line of each body, by the indentation that clang-format gives."""
    not_a_function = re.compile(r"^\s*(namespace|class|struct|enum|union|extern|using|typedef|//|#|\})")
    open_at = {}
    for number, line in enumerate(lines, 1):
        indent = len(line) - len(line.lstrip())
        if indent > 2 or not line.strip():
            continue
        if re.match(r"^\s*\}", line) and indent in open_at:
            yield open_at.pop(indent), number
        elif line.endswith("{") and ")" in line and not not_a_function.match(line):
            open_at.setdefault(indent, number)


def check_names(tree):
    """No file or type is named by a word that says nothing."""
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


def check_places(tree):
    """The top level holds what it should, and no file names one machine's paths."""
    for top in sorted({file.parts[0] for file in tree.files}):
        if top not in TOP_LEVEL and not top.startswith("."):
            yield f"{top}: has no place at the top level"
    for file in tree.files:
        for number, line in enumerate(tree.lines(file), 1):
            if MACHINE_PATHS.search(line):
                yield f"{file}:{number}: names a path of one machine"


def check_headers(tree):
    """Headers begin by saying what they are for, and are guarded."""
    for file in tree.code(".h", ".hpp"):
        lines = tree.lines(file)
        if not lines or not lines[0].startswith(("//", "/*")):
            yield f"{file}:1: does not begin with what the file is for"
        if file.parts[0] != "proto" and not any(
                line.startswith(("#pragma once", "#ifndef ECHOLINE_")) for line in lines):
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
