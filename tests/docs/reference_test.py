#!/usr/bin/env python3
"""The lists in the pages agree with programs and code: commands, Python names, status numbers, limits, messages.

ECHOLINE_UPDATE_DOCS=1 writes docs/cli.md instead of comparing it."""
import errno
import inspect
import os
import re
import subprocess
import unittest

from pages import DOCS, ROOT

import echoline
from echoline._batch import FieldSpec

CLI_HEAD = """# Commands

Look up the options of the two programs here: `echolined` is the daemon, `echoline` is the command line for everything else.

* Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 for a `drain` that did not finish within its patience.
* Results go to stdout. Errors go to stderr and say what is wrong, where, and what to do.
* `--json` prints JSON, for programs.

This page is generated from `--help`, and a test compares them.
"""


def text_of(page):
    return (DOCS / page).read_text(encoding="utf-8")


def help_of(variable, *arguments):
    done = subprocess.run([os.environ[variable], *arguments, "--help"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def cli_page():
    overview = help_of("ECHOLINE_CLI")
    parts = [CLI_HEAD, f"## `echolined`\n\n```text\n{help_of('ECHOLINED')}\n```\n",
             f"## `echoline`\n\n```text\n{overview}\n```\n"]
    for command in re.findall(r"^  (\S+)  ", overview.partition("Subcommands:")[2], re.MULTILINE):
        parts.append(f"### `echoline {command}`\n\n```text\n{help_of('ECHOLINE_CLI', command)}\n```\n")
    return "\n".join(parts)


def section(text, title):
    """The text from a heading to the next one of the same or a higher level."""
    found = re.search(rf"^(#+) {re.escape(title)}$", text, re.MULTILINE)
    if not found:
        raise AssertionError(f"no heading {title!r}")
    rest = text[found.end():]
    end = re.search(rf"^#{{1,{len(found.group(1))}}} ", rest, re.MULTILINE)
    return rest[:end.start()] if end else rest


def rows(text):
    """The cells of all table rows, without headings and rules."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [row for row in cells if any(cell.startswith("`") for cell in row)]


def first_cells(text):
    return {row[0].strip("`") for row in rows(text)}


def names_of(text):
    """The names in first cells that may have several."""
    return {name.strip("`") for row in rows(text) for name in row[0].split(", ")}


class Commands(unittest.TestCase):
    def test_the_page_is_what_help_says(self):
        if os.environ.get("ECHOLINE_UPDATE_DOCS"):
            (DOCS / "cli.md").write_text(cli_page(), encoding="utf-8")
        self.assertEqual(text_of("cli.md"), cli_page(), "ECHOLINE_UPDATE_DOCS=1 writes it")


class Python(unittest.TestCase):
    PAGE = text_of("python.md")

    def test_every_public_name_has_a_place(self):
        for name in echoline.__all__:
            self.assertIn(f"`{name}`", self.PAGE)

    def arguments_agree(self, title, function):
        listed = {row[0].strip("`"): row[1].strip("`") for row in rows(section(self.PAGE, title))}
        taken = {}
        for name, parameter in list(inspect.signature(function).parameters.items())[1:]:
            if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                taken[name] = "" if parameter.default is parameter.empty else repr(parameter.default).replace("'", '"')
        self.assertEqual(listed, taken)

    def test_arguments_and_their_defaults(self):
        self.arguments_agree("Arguments of Loader", echoline.Loader.__init__)
        self.arguments_agree("Arguments of serve", echoline.serve.__init__)

    @staticmethod
    def batch_kinds(batch):
        """The class, its compiled base class, and the base class of all batches."""
        return batch.__mro__[:3]

    def members_agree(self, title, *kinds):
        taken = {name for kind in kinds for name in (*vars(kind), *getattr(kind, "__annotations__", {}))
                 if not name.startswith("_") or name in ("__len__", "__iter__")}
        self.assertEqual(first_cells(section(self.PAGE, title)), taken)

    def test_members(self):
        self.members_agree("Members of Loader", echoline.Loader, echoline.Loader.__mro__[1])
        self.members_agree("Members of Batch", *self.batch_kinds(echoline.Batch))
        self.members_agree("Members of Ragged", echoline.Ragged)
        self.members_agree("Members of Daemon", echoline.Daemon)
        self.assertEqual(first_cells(section(self.PAGE, "Members of FieldSpec")), set(FieldSpec._fields))

    def test_torch(self):
        try:
            import echoline.torch as package
        except ImportError as error:
            self.skipTest(f"no torch: {error}")
        part = section(self.PAGE, "echoline.torch")
        self.assertEqual(names_of(part.partition("### ")[0]), set(package.__all__))
        self.members_agree("Members of TensorBatch", package.TensorBatch)

    def test_cuda(self):
        import echoline.cuda as package
        part = section(self.PAGE, "echoline.cuda")
        self.assertEqual(first_cells(part.partition("### ")[0]), set(package.__all__))
        self.members_agree("Members of a loader on a GPU", package.Loader)
        named = names_of(section(self.PAGE, "Members of a batch on a GPU"))
        taken = {name for kind in self.batch_kinds(package.Batch) for name in vars(kind) if not name.startswith("_")}
        self.assertEqual(named, taken | {"__iter__", "__len__"})

    def test_jax(self):
        try:
            import echoline.jax as package
        except ImportError as error:
            self.skipTest(f"no JAX: {error}")
        self.assertEqual(names_of(section(self.PAGE, "echoline.jax")), set(package.__all__))

    def test_ray(self):
        try:
            import echoline.ray as package
        except ImportError as error:
            self.skipTest(f"no ray: {error}")
        part = section(self.PAGE, "echoline.ray")
        self.assertEqual(first_cells(part.partition("### ")[0]), set(package.__all__))
        self.arguments_agree("Arguments of Daemons", package.Daemons.__init__)
        self.members_agree("Members of Daemons", package.Daemons)

    def test_exceptions(self):
        listed = {row[0].strip("`"): int(row[1]) for row in rows(section(self.PAGE, "Exceptions"))}
        taken = {name: value.status for name, value in vars(echoline).items()
                 if isinstance(value, type) and issubclass(value, echoline.Error)}
        self.assertEqual(listed, taken)


class Numbers(unittest.TestCase):
    def test_members_of_the_cpp_classes(self):
        header = (ROOT / "client/include/echoline/echoline.hpp").read_text(encoding="utf-8")
        page = section(text_of("cpp.md"), "C++20")
        listed = {name for row in rows(page) for name in re.findall(r"`(\w+)`", row[0])}
        self.assertGreater(len(listed), 20)
        self.assertEqual(set(), listed - set(re.findall(r"\b(\w+)\(", header)))
        options = re.search(r"struct LoaderOptions \{(.*?)\n\};", header, re.DOTALL).group(1)
        for name in re.findall(r"(\w+) = ", options):
            self.assertIn(f"`{name}`", page)

    def test_functions_and_status_numbers_of_the_c_interface(self):
        header = (ROOT / "client/include/echoline/echoline.h").read_text(encoding="utf-8")
        enum = re.search(r"typedef enum echoline_status \{(.*?)\}", header, re.DOTALL).group(1)
        listed = {row[0].strip("`"): row[1] for row in rows(section(text_of("cpp.md"), "C"))}
        functions = set(re.findall(r"^ECHOLINE_API .*?(echoline_\w+)\(", header, re.MULTILINE))
        self.assertEqual({name: number for name, number in listed.items() if name not in functions},
                         dict(re.findall(r"(ECHOLINE_\w+) = (\d+)", enum)))
        self.assertEqual(functions - set(listed), set())

    def test_limits_are_those_of_the_code(self):
        checked = 0
        for _, number, name, place in rows(text_of("limits.md")):
            with self.subTest(name=name):
                file = ROOT / place.strip("`")
                found = re.search(rf"\b{name.strip('`')}\b\s*(?:=|\{{)\s*([^;]+)[;}}]", file.read_text(encoding="utf-8"))
                self.assertIsNotNone(found, f"{place} has no {name}")
                self.assertEqual(value_of(number), value_of(found.group(1)))
                checked += 1
        self.assertGreater(checked, 20)


def value_of(text):
    """The value of a C++ constant, or of a number with a unit as the pages write it."""
    text = re.sub(r"std::u?int\d+_t\{(\d+)\}|std::size_t\{(\d+)\}", lambda found: found.group(1) or found.group(2), text)
    text = re.sub(r"(?<=\d)[UuLl]+\b|['`,]", "", text.strip().rstrip("}"))
    units = {"KiB": 2 ** 10, "MiB": 2 ** 20, "GiB": 2 ** 30, "TiB": 2 ** 40, "s": 10 ** 9, "min": 60 * 10 ** 9}
    with_unit = re.fullmatch(r"(\d+) (\w+)", text)
    if with_unit:
        return int(with_unit.group(1)) * units[with_unit.group(2)]
    if not re.fullmatch(r"[\d\s*<()+-]+", text):
        raise AssertionError(f"not a number: {text!r}")
    return eval(text)  # pylint: disable=eval-used


# The files with messages of the control service: refused calls, and calls that do not reach it.
CONTROL = ("serve/control/control_roles.cc", "serve/control/control_service.cc", "serve/control/watchers.cc",
           "serve/control/tls_files.cc", "serve/process/kept_streams.cc", "serve/process/first_streams.cc",
           "config/control.cc", "cli/connectivity_check.cc", "cli/control_channel.cc")


def literals(source):
    """The strings of C++, those that follow each other joined."""
    source = re.sub(r"^\s*(#include|//).*$", "", source, flags=re.MULTILINE)
    for found in re.findall(r'"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*', source):
        yield "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', found))


class Messages(unittest.TestCase):
    HEADINGS = re.findall(r"^### `(.+)`$", "".join(text_of(page.name) for page in DOCS.glob("troubleshooting*.md")),
                          re.MULTILINE)

    def test_every_message_of_the_control_service_with_a_remedy_is_there(self):
        said = [text for file in CONTROL for text in literals((ROOT / "daemon" / file).read_text(encoding="utf-8"))
                if "; " in text.replace("{}; {}", "")]
        self.assertGreater(len(said), 20)
        missing = [text for text in said if not any(all(part.strip() in text for part in heading.split("..."))
                                                    for heading in self.HEADINGS)]
        self.assertEqual([], missing)

    def test_every_quoted_message_is_in_the_code(self):
        sources = [path.read_text(encoding="utf-8") for folder in ("daemon", "client")
                   for suffix in ("cc", "h", "py") for path in (ROOT / folder).rglob(f"*.{suffix}")]
        said = re.sub(r'"\s*(?:std::string\()?"', "", " ".join([*sources, os.strerror(errno.ENOENT)]))
        self.assertGreater(len(self.HEADINGS), 30)
        missing = [message for message in self.HEADINGS for part in message.split("...") if part.strip() not in said]
        self.assertEqual([], missing, "no program prints these any more")


if __name__ == "__main__":
    unittest.main()
