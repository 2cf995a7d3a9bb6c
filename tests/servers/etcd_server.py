#!/usr/bin/env python3
"""One etcd for a test. Prints {"address": "ADDRESS:PORT", "pid": NUMBER} when it answers. With --folder it keeps its data
there, so that another one can go on with them at the same port."""
import argparse
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from starter import announce, end_with_parent, exit_on_sigterm, free_ports


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--port", type=int, help="and the next one for other members; default: free ones of 127.0.0.1")
    parser.add_argument("--folder")
    parser.add_argument("--certificate", help="with it: TLS")
    parser.add_argument("--key")
    parser.add_argument("--client-ca", help="with it, clients need a certificate of this authority")
    options = parser.parse_args()
    program = shutil.which("etcd")
    if program is None:
        sys.exit(77)
    end_with_parent()
    exit_on_sigterm()
    client, peer = (options.port, options.port + 1) if options.port else free_ports(2)
    folder = options.folder or tempfile.mkdtemp()
    here = f"{'https' if options.certificate else 'http'}://{options.address}:{client}"
    tls = ["--cert-file", options.certificate, "--key-file", options.key] if options.certificate else []
    if options.client_ca:
        tls += ["--client-cert-auth", "--trusted-ca-file", options.client_ca]
    try:
        process = subprocess.Popen(
            [program, "--data-dir", folder, "--unsafe-no-fsync", "--log-level", "error", *tls,
             "--listen-client-urls", here, "--advertise-client-urls", here,
             "--listen-peer-urls", f"http://127.0.0.1:{peer}", "--initial-advertise-peer-urls", f"http://127.0.0.1:{peer}",
             "--initial-cluster", f"default=http://127.0.0.1:{peer}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=lambda: end_with_parent(signal.SIGKILL))
        while not answers(options.address, client):
            if process.poll() is not None:
                sys.exit("etcd has ended")
            time.sleep(0.01)
        announce(address=f"{options.address}:{client}", pid=process.pid)
        process.wait()
    finally:
        process.kill()
        process.wait()
        if not options.folder:
            shutil.rmtree(folder, ignore_errors=True)


def answers(address, port):
    with socket.socket() as probe:
        return probe.connect_ex((address, port)) == 0


if __name__ == "__main__":
    main()
