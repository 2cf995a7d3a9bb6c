#!/usr/bin/env python3
"""Prints a manual page of a program of ours, made from what its --help and those of its commands say."""
import datetime
import pathlib
import re
import subprocess
import sys


def said(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def escaped(text):
    return re.sub(r"^([.'])", r"\\&\1", text.replace("\\", r"\e").replace("-", r"\-"), flags=re.MULTILINE)


class Help:
    """CLI11's help: a line of description, "Usage: ...", then groups "Title:" of lines "  name  text"."""

    def __init__(self, text):
        lines = text.strip().splitlines()
        self.description = lines[0].rstrip(".")
        self.usage = next(line for line in lines if line.startswith("Usage:")).removeprefix("Usage: ")
        self.groups = {}
        for line in lines[1:]:
            if title := re.fullmatch(r"(\w+):", line):
                entries = self.groups.setdefault(title[1], [])
            elif entry := re.fullmatch(r"  (\S.*?)(?: {2,}(.*))?", line):
                entries.append([entry[1], entry[2] or ""])
            elif line.startswith("   "):
                entries[-1][1] = f"{entries[-1][1]} {line.strip()}".strip()

    def page(self, titles):
        for title in titles:
            for name, text in self.groups.get(title, []):
                yield f".TP\n\\fB{escaped(name)}\\fR\n{escaped(text)}"


def main(path):
    program = pathlib.Path(path).name
    top = Help(said(path, "--help"))
    version = said(path, "--version").split()[-1]
    summary = top.description[0].lower() + top.description[1:]
    print(f'.TH {program.upper()} 1 "{datetime.date.today()}" "echoline {version}" "Echoline"')
    print(f".SH NAME\n{program} \\- {escaped(summary)}")
    print(f".SH SYNOPSIS\n\\fB{escaped(top.usage)}\\fR\n.SH OPTIONS")
    print(*top.page(["Options"]), sep="\n")
    for command, _ in top.groups.get("Subcommands", []):
        part = Help(said(path, command, "--help"))
        print(f".SH COMMAND {escaped(command.upper())}\n{escaped(part.description)}.\n.PP\n"
              f"\\fB{escaped(part.usage)}\\fR")
        print(*part.page(part.groups), sep="\n")
    others = {"echoline": "echolined", "echolined": "echoline"}
    print(f".SH SEE ALSO\n.BR {others[program]} (1)")


if __name__ == "__main__":
    main(sys.argv[1])
