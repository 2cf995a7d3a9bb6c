"""A memcached server for one test: `with Memcached() as server: server.address`."""
import shutil
import socket
import subprocess
import time
import unittest

from starter import end_with_parent


class Memcached:
    def __init__(self, megabytes=64, address="127.0.0.1"):
        self.program = shutil.which("memcached")
        if self.program is None:
            raise unittest.SkipTest("memcached is not installed")
        with socket.socket() as listener:
            listener.bind((address, 0))
            self.port = listener.getsockname()[1]
        self.ip, self.address = address, f"{address}:{self.port}"
        self.megabytes = megabytes
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            [self.program, "-l", self.ip, "-p", str(self.port), "-U", "0", "-m", str(self.megabytes), "-M", "-u",
             "nobody"], stdin=subprocess.DEVNULL, preexec_fn=end_with_parent)
        for _ in range(500):
            with socket.socket() as probe:
                if probe.connect_ex((self.ip, self.port)) == 0:
                    return self
            time.sleep(0.01)
        raise RuntimeError("memcached does not answer")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.kill()
