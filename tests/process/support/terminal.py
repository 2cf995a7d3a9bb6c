"""A program on a pseudo-terminal: the screen that it draws, and keys typed into it."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from support.programs import PATIENCE, end_with_parent

# The sequences that `echoline top` may write: move the cursor, clear, set attributes, set modes of the terminal.
SEQUENCE = re.compile(r"\x1b\[(?:(\d+);(\d+)H|(2J)|([\d;]*)m|\?(\d+)([hl]))")
ALTERNATE, CURSOR, WRAP = 1049, 25, 7


class Terminal:
    """A program whose stdin, stdout and stderr are a terminal of `columns` x `rows`.

    `lines` is the current screen; `modes` are the terminal's switches; `strange` collects characters that the program
    must not write."""

    def __init__(self, arguments, columns=80, rows=24, environment=None):
        self.master, slave = pty.openpty()
        self._slave = slave  # kept open, so that the terminal outlives the program
        self.before = termios.tcgetattr(slave)
        self.modes = {ALTERNATE: False, CURSOR: True, WRAP: True}
        self.sequences, self.strange, self.raw, self._rest = set(), "", "", ""
        self._place = [0, 0]
        self.resize(columns, rows)

        def own_terminal():
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            end_with_parent()

        self.process = subprocess.Popen(
            arguments, stdin=slave, stdout=slave, stderr=slave, preexec_fn=own_terminal,
            env={**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "TZ": "UTC", **(environment or {})})

    def resize(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.lines = [" " * columns for _ in range(rows)]
        # The kernel sends SIGWINCH to the foreground processes.
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys):
        os.write(self.master, keys.encode())

    def text(self):
        return "\n".join(self.lines)

    def restored(self):
        """The terminal is as the program found it."""
        return (self.modes == {ALTERNATE: False, CURSOR: True, WRAP: True}
                and termios.tcgetattr(self._slave) == self.before)

    def read(self, seconds=0.1):
        """Draws what the program wrote since the last call; False if it wrote nothing for `seconds`."""
        readable, _, _ = select.select([self.master], [], [], seconds)
        if not readable:
            return False
        text = os.read(self.master, 1 << 16).decode("utf-8", errors="surrogateescape")
        self.raw += text
        self._draw(self._rest + text)
        return True

    def until(self, condition, what, seconds=PATIENCE):
        deadline = time.monotonic() + seconds
        while not condition():
            over = time.monotonic() > deadline or (self.process.poll() is not None and not self.read(0))
            if over and not condition():  # asked again: the program may have ended in between
                raise AssertionError(f"no {what}; ended with {self.process.poll()}; the screen:\n{self.text()}")
            self.read()
        return self

    def shows(self, words, seconds=PATIENCE):
        return self.until(lambda: words in self.text(), f"'{words}'", seconds)

    def wait(self):
        """The program's exit status, after it ended and all of its output was drawn."""
        self.until(lambda: self.process.poll() is not None, "end")
        while self.read(0):
            pass
        return self.process.returncode

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        os.close(self.master)
        os.close(self._slave)

    def _draw(self, text):
        while text:
            if text[0] != "\x1b":
                self._put(text[0])
                text = text[1:]
                continue
            match = SEQUENCE.match(text)
            if match is None and re.fullmatch(r"\x1b(\[[?\d;]*)?", text):
                break  # incomplete: the next read() brings the rest
            if match is None:
                self.strange += text[:8]
                text = text[1:]
                continue
            self._obey(match)
            text = text[match.end():]
        self._rest = text

    def _obey(self, match):
        row, column, clear, attributes, mode, switch = match.groups()
        if row:
            self._place = [int(row) - 1, int(column) - 1]
        elif clear:
            self.lines = [" " * self.columns for _ in range(self.rows)]
        elif mode:
            self.modes[int(mode)] = switch == "h"
        else:
            self.sequences.add(attributes)

    def _put(self, character):
        row, column = self._place
        if character < " ":
            if character not in "\r\n":
                self.strange += character
            self._place = [row + 1, column] if character == "\n" else [row, 0]
        elif row < self.rows and column < self.columns:
            line = self.lines[row]
            self.lines[row] = line[:column] + character + line[column + 1:]
            self._place[1] += 1
