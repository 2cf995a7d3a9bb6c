"""The repository's files, their lines, includes and comments, as the checks of tidy.py read them."""

import pathlib
import re
import shutil
import subprocess

CODE = {".cc", ".h", ".hpp", ".cu", ".py", ".proto", ".sh", ".cmake"}
CPP = (".cc", ".h", ".hpp")
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]')
MODULE = re.compile(r"^echoline_module\((\S+)\s*(.*?)\)", re.MULTILINE | re.DOTALL)
# Where an include is looked for, besides the file's own folder.
INCLUDE_ROOTS = ("daemon", "proto", "client/include", "client/src", "tests")


class Tree:
    """The files that git knows or would add; everything except build folders where there is no git."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        names = self._known_to_git() or [
            str(path.relative_to(self.root)) for path in self.root.rglob("*")
            if path.is_file() and not path.relative_to(self.root).parts[0].startswith(("build", ".git"))
            and path.parent.name != "__pycache__"]
        self.files = sorted(pathlib.PurePosixPath(name) for name in set(names)
                            if (self.root / name).is_file())
        self.known = set(self.files)
        self._lines = {}

    def _known_to_git(self):
        if not (self.root / ".git").exists() or not shutil.which("git"):
            return []
        git = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                             cwd=self.root, capture_output=True, check=False)
        return [name for name in git.stdout.decode().split("\0") if name]

    def code(self, *suffixes):
        return [file for file in self.files if file.suffix in (suffixes or CODE)]

    def lines(self, file):
        if file not in self._lines:
            text = (self.root / file).read_text(encoding="utf-8", errors="replace")
            self._lines[file] = text.splitlines()
        return self._lines[file]

    def includes(self, file):
        """Line number and name of each include."""
        for number, line in enumerate(self.lines(file), 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(1)

    def included_files(self, file):
        """The repository's own files that a file includes."""
        for _, name in self.includes(file):
            for folder in (file.parent, *map(pathlib.PurePosixPath, INCLUDE_ROOTS)):
                if folder / name in self.known:
                    yield folder / name
                    break

    def modules(self):
        """The modules of daemon/CMakeLists.txt, bottom to top: their names and the modules each one uses."""
        declared = pathlib.PurePosixPath("daemon/CMakeLists.txt")
        if declared not in self.known:
            return {}
        modules = {}
        for name, arguments in MODULE.findall("\n".join(self.lines(declared))):
            words = arguments.split()
            uses = words[words.index("USES") + 1:] if "USES" in words else []
            modules[name] = uses[:uses.index("LINKS")] if "LINKS" in uses else uses
        return modules
