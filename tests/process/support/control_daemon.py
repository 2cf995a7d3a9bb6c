"""A daemon with one small stream, whose control service a test configures."""
from support.daemon_process import Daemon, stream_yaml
from support.programs import run_echoline


class ControlDaemon(Daemon):
    """`control` is `daemon.control` in YAML's flow form, without its braces; `read` more keys of the `read` step."""

    def __init__(self, control="", read="", **options):
        super().__init__("", control=control, **options)
        data = self.folder / "tokens.bin"
        data.write_bytes(bytes(4096))
        stream = stream_yaml([f"read: {{url: {data}, format: tokens, tokens: {{length: 16}}{read}}}",
                              "decode: {x: {key: tokens, as: uint16, shape: [16]}}", "batch: {size: 4}"])
        self.config.write_text(self.config.read_text(encoding="utf-8") + stream, encoding="utf-8")
        self.socket = self.runtime_dir / "control.sock"

    def call(self, *arguments, **options):
        """(exit code, output and error output) of `echoline ARGUMENTS`, which name the daemon."""
        done = run_echoline(*arguments, **options)
        return done.returncode, done.stdout + done.stderr
