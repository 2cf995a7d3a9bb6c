#!/usr/bin/env python3
"""The source distribution is built and installed in a clean Debian 12 with the commands of docs/install.md. It compiles
everything, which takes half an hour on two processors; ECHOLINE_JOBS=N limits the compilers."""
import os
import re
import shutil
import unittest

from clean_root import ROOT, CleanRoot, run
from wheel_test import EXPECTED, PROGRAM


def block(first):
    """The block of docs/install.md that begins with this line."""
    text = (ROOT / "docs/install.md").read_text(encoding="utf-8")
    return re.search(rf"```sh\n({re.escape(first)}.*?)```", text, re.DOTALL)[1]


class SourceDistribution(unittest.TestCase):
    def test_the_commands_of_the_page_build_it_where_nothing_else_is(self):
        with CleanRoot() as root:
            repository = root.folder / "opt/repository"  # what a user has cloned
            shutil.copytree(ROOT, repository, ignore=shutil.ignore_patterns("build*", ".git", "__pycache__"))
            root.install("python3-venv", "procps")
            root.write("/opt/example.py", PROGRAM)
            root.write("/opt/commands", f"""
                cd /opt/repository
                {block("python3 -m venv pack")}
                mv dist/* /opt
                rm -rf /opt/repository
                cd /opt
                export CMAKE_BUILD_PARALLEL_LEVEL={os.environ.get("ECHOLINE_JOBS", os.cpu_count())}
                {block("tar -xf echoline")}
                train/bin/python example.py""")
            said = root.call("bash", "-eux", "/opt/commands")
            self.assertIn(EXPECTED, said)
            self.assertRegex(said, r"echoline \d+\.\d+\.\d+")


if __name__ == "__main__":
    unittest.main(verbosity=2)
