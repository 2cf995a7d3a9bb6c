"""Runs the blocks of one page as its reader would: files, commands and programs, in a separate folder with a separate daemon."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap
import time

from pages import ROOT

sys.path[:0] = [str(ROOT / "tests" / "process")]
from support import photos
from support.programs import PATIENCE, binary, end_with_parent, free_port
from support.tars import write_tar

# The daemon of a page that starts none: stream "train" with photos and labels, for one trainer or several, and stream
# "val" for an evaluation.
STREAM = """
streams:
  train:
    seed: 7
    pipeline:
      - read:    {url: "photos/train-*.tar", format: webdataset}
      - shuffle: {window: 32}
      - decode:  {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}
      - random_resized_crop: {field: image, size: 32}
      - batch:   {size: 16}
      - publish: {slots: 8}
  val:
    pipeline:
      - read:        {url: "photos/train-*.tar", format: webdataset}
      - decode:      {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}
      - center_crop: {field: image, size: 32}
      - batch:       {size: 48, last: pad}
"""


def write_photos(folder):
    """Two shards of 64 photos each."""
    folder.mkdir()
    for shard in range(2):
        files = []
        for number in range(64 * shard, 64 * shard + 64):
            content, label = photos.photo(number)
            files += [(f"{number:03d}.jpg", content), (f"{number:03d}.cls", str(label % 10).encode())]
        write_tar(folder / f"train-{shard:06d}.tar", files)


class Session:
    """Runs blocks in the order of the page. A daemon that a block starts serves the blocks after it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.metrics, self.control = free_port(), free_port()
        programs = self.folder / "programs"
        programs.mkdir()
        for name, variable in (("echolined", "ECHOLINED"), ("echoline", "ECHOLINE_CLI")):
            (programs / name).symlink_to(binary(variable))
        self.environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(self.folder),
                            "ECHOLINE_PYTHON": os.environ.get("ECHOLINE_PYTHON", sys.executable),
                            "ECHOLINE_RUNTIME_DIR": str(self.folder / "run"),
                            "ECHOLINE_PRIVATE_DIR": str(self.folder / "private"),
                            "STATE_DIRECTORY": str(self.folder / "state")}
        self.daemon = None

    def run(self, *command):
        """Runs a command that must succeed, and returns its output."""
        done = subprocess.run([str(word) for word in command], cwd=self.folder, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=PATIENCE, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}")
        return done.stdout

    # ---- the daemon ----

    def start_daemon(self, arguments):
        """Same as the line `echolined ARGUMENTS`, with a free port for the metrics. Waits until its streams are ready."""
        self.stop_daemon()
        with open(self.folder / "log", "wb") as log:
            self.daemon = subprocess.Popen(
                [binary("ECHOLINED"), *arguments, "--set", f"daemon.metrics=127.0.0.1:{self.metrics}"],
                cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=end_with_parent)
        deadline = time.monotonic() + PATIENCE
        while " ready: " not in (self.folder / "log").read_text():
            if self.daemon.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"the daemon did not start:\n{(self.folder / 'log').read_text()}")
            time.sleep(0.02)

    def await_daemon(self):
        """Makes sure that a daemon runs: the one of the page, else one with a stream of photos."""
        if self.daemon is None:
            write_photos(self.folder / "photos")
            (self.folder / "photos.yaml").write_text(STREAM, encoding="utf-8")
            self.start_daemon(["--config", "photos.yaml"])

    def stop_daemon(self):
        if self.daemon is not None:
            self.daemon.terminate()
            self.daemon.wait(PATIENCE)
            self.daemon = None

    # ---- blocks ----

    def here(self, block):
        """The text of a block with the ports and folders of this session."""
        places = {"9464": self.metrics, "9465": self.control, "/run/echoline": self.folder / "run"}
        text = block.text
        for usual, own in places.items():
            text = text.replace(usual, str(own))
        return text

    def shell(self, block):
        """Runs the commands one after the other; `echolined` keeps running in the background."""
        script = []
        for line in self.here(block).splitlines():
            words = line.split("#")[0].split()
            if words[:1] == ["echolined"]:
                self._run_script(script)
                self.start_daemon([word for word in words[1:] if word != "&"])
            else:
                script.append(line)
        self._run_script(script)

    def _run_script(self, lines):
        if any(re.match(r"echoline (list|show|read|state|create|delete)|curl", line) for line in lines):
            self.await_daemon()
        if lines:
            self.run("bash", "-euo", "pipefail", "-c", "\n".join(lines))
        lines.clear()

    def python(self, block):
        """Runs a program. `train`, which pages do not define, does nothing here. A first line `# NAME` also makes it a file."""
        self.await_daemon()
        if named := re.match(r"# (\S+\.py)$", block.first_line):
            (self.folder / named.group(1)).write_text(block.text, encoding="utf-8")
        imported = re.findall(r"^(?:import|from) (?:echoline\.)?([\w.]+)", block.text, re.MULTILINE)
        imported = {"numpy" if name == "echoline" else name for name in imported}
        needs = {name for name in imported if name.split(".")[0] not in sys.stdlib_module_names
                 and not (self.folder / f"{name}.py").exists()}
        script = "train = lambda *_, **__: None\n" + self.here(block)
        return self.run(self.interpreter(sorted(needs)), "-B", "-c", script)

    @staticmethod
    def interpreter(modules):
        """A Python with these modules; LookupError if there is none."""
        for python in (os.environ.get("ECHOLINE_PYTHON"), "/usr/bin/python3", sys.executable,
                       ROOT / "build" / "venv" / "bin" / "python"):
            if python and shutil.which(python) and subprocess.run(
                    [python, "-c", "".join(f"import {name}\n" for name in modules)], capture_output=True,
                    check=False).returncode == 0:
                return python
        raise LookupError(f"no Python here has {', '.join(modules)}")

    def compiled(self, block):
        """Compiles a complete program in C or C++ as the reader of the page would, and runs it."""
        self.await_daemon()
        library = pathlib.Path(binary("ECHOLINE_CLIENT"))
        compiler, source = (("cc", "-std=c11"), "program.c") if block.language == "c" else (("c++", "-std=c++20"),
                                                                                          "program.cc")
        (self.folder / source).write_text(block.text, encoding="utf-8")
        self.run(*compiler, "-Wall", "-Wextra", "-Werror", source, "-o", "program",
                 f"-I{ROOT / 'client' / 'include'}", library, f"-Wl,-rpath,{library.parent}")
        self.run("./program")

    def yaml(self, block):
        """Checks a configuration, or steps of one, with `echoline check`. A first line `# NAME` also makes it a file of that name."""
        named = re.match(r"# (\S+\.yaml)$", block.first_line)
        path = self.folder / (named.group(1) if named else f"line-{block.line}.yaml")
        path.write_text(configuration(self.here(block)), encoding="utf-8")
        self.run("echoline", "check", "--offline", path.name)


def configuration(text):
    """The text; steps are completed to a configuration."""
    if re.search(r"^(streams|daemon):", text, re.MULTILINE):
        return text
    steps = re.findall(r"^- .*\n(?:(?!- ).*\n)*", text, re.MULTILINE)
    names = [re.match(r"- (\w+)", step).group(1) for step in steps]
    if not names:
        raise AssertionError("neither a configuration nor steps of one; add the test that checks it to elsewhere.txt")

    def add(name, place, step):
        if name not in names:
            names.insert(place, name)
            steps.insert(place, f"- {name}: {step}\n")

    add("read", 0, "{url: /data/train.tar}")
    add("decode", next((at for at, name in enumerate(names) if name not in ("read", "cache", "shuffle")), len(names)),
        "{image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}")
    add("batch", names.index("publish") if "publish" in names else len(names), "{size: 32}")
    return "streams:\n  train:\n    pipeline:\n" + textwrap.indent("".join(steps), "      ")
