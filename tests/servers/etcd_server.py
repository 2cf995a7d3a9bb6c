#!/usr/bin/env python3
"""One etcd for a test, on free ports of 127.0.0.1. Prints {"address": "127.0.0.1:PORT", "pid": NUMBER} when it answers."""
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from starter import announce, end_with_parent, exit_on_sigterm, free_ports


def main():
    program = shutil.which("etcd")
    if program is None:
        sys.exit(77)
    end_with_parent()
    exit_on_sigterm()
    client, peer = free_ports(2)
    folder = tempfile.mkdtemp()
    try:
        process = subprocess.Popen(
            [program, "--data-dir", folder, "--unsafe-no-fsync", "--log-level", "error",
             "--listen-client-urls", f"http://127.0.0.1:{client}", "--advertise-client-urls", f"http://127.0.0.1:{client}",
             "--listen-peer-urls", f"http://127.0.0.1:{peer}", "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}",
             "--initial-cluster", f"default=http://127.0.0.1:{peer}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=lambda: end_with_parent(signal.SIGKILL))
        while not answers(client):
            if process.poll() is not None:
                sys.exit("etcd has ended")
            time.sleep(0.01)
        announce(address=f"127.0.0.1:{client}", pid=process.pid)
        process.wait()
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


if __name__ == "__main__":
    main()
