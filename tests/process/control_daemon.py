"""A daemon with one small stream and `daemon.control` of the test's choice."""
import os
import subprocess

from daemon_process import PATIENCE, Daemon, binary, stream_yaml


class ControlDaemon(Daemon):
    """`control` is the mapping in YAML's flow form, without its braces."""

    def __init__(self, control="", throttle="", **options):
        super().__init__("", control=control, **options)
        data = self.folder / "tokens.bin"
        data.write_bytes(bytes(4096))
        stream = stream_yaml([f"read: {{url: {data}, format: tokens, tokens: {{length: 16}}{throttle}}}",
                              "decode: {x: {key: tokens, as: uint16, shape: [16]}}", "batch: {size: 4}"])
        self.config.write_text(self.config.read_text(encoding="utf-8") + stream, encoding="utf-8")
        self.socket = self.runtime_dir / "control.sock"

    def command(self, *arguments, program=None, environment=None, **process):
        """(exit code, what it wrote to stdout and stderr)."""
        done = subprocess.run([program or binary("ECHOLINE_CLI"), *map(str, arguments)], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE,
                              check=False, env={**os.environ, **(environment or {})}, **process)
        return done.returncode, done.stdout
