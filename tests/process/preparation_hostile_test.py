#!/usr/bin/env python3
"""A preparation server with a good certificate whose answers are wrong in every way: the host never uses one, and its
rows stay those of a single host."""
import concurrent.futures
import os
import struct

os.environ["GRPC_VERBOSITY"] = "ERROR"
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"  # its handlers abort children that this test starts while it serves
import support.grpc_python  # first: may start this test again in another Python
from support.batches import rows_of
from support.daemon_process import Daemon, stream_yaml
from support.preparation import Cluster, PreparationServer
from support.process_case import ProcessCase, main
from support.programs import free_port, wait_until
from support.records import DECODE, Records

import grpc

MAGIC = b"elsf"
UINT8, INT64 = 1, 8


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def field(dtype, sizes, size):
    return struct.pack("<II6IQ", dtype, len(sizes), *sizes, *[0] * (6 - len(sizes)), size)


def frame(record, fields=None, values=bytes(64 + 8), code=0, reason=b"", checksum=None):
    """The frame of a picture of 8 x 8 pixels and a label, with a right checksum unless one is given."""
    fields = [field(UINT8, (8, 8, 1), 64), field(INT64, (), 8)] if fields is None else fields
    body = struct.pack("<QIIII", record, 0, code, len(fields), len(reason)) + b"".join(fields) + reason + values
    return MAGIC + struct.pack("<I", crc32c(body) if checksum is None else checksum) + body


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out + bytes([number]))


def answer(*frames):
    return b"".join(b"\x0a" + varint(len(one)) + one for one in frames)


def records_of(request):
    """The packed field 4 of a PrepareRequest."""
    at, found = 0, []

    def number():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = request[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(request):
        key = number()
        if key & 7 == 0:
            number()
            continue
        end = number() + at
        while key >> 3 == 4 and at < end:
            found.append(number())
        at = end
    return found


# Of the records that were asked for.
HOSTILE = [
    lambda records: b"",
    lambda records: os.urandom(1000),
    lambda records: answer(b""),
    lambda records: answer(frame(records[0], checksum=1)),
    lambda records: answer(frame(records[0] + 1)),
    lambda records: answer(*[frame(record) for record in records], frame(records[-1])),
    lambda records: b"\x0a" + varint(1 << 34) + b"few",
    lambda records: answer(frame(records[0]))[:-1],
    lambda records: answer(frame(records[0], fields=[])),
    lambda records: answer(frame(records[0], fields=[field(UINT8, (0xFFFFFFFF, 0xFFFFFFFF, 3), 3), field(INT64, (), 8)])),
    lambda records: answer(frame(records[0], fields=[field(UINT8, (8, 8, 2), 128), field(INT64, (), 8)], values=bytes(136))),
    lambda records: answer(frame(records[0], fields=[field(INT64, (8, 8, 1), 512), field(INT64, (), 8)], values=bytes(520))),
    lambda records: answer(frame(records[0], fields=[field(UINT8, (8, 8, 1), 1 << 62), field(INT64, (), 8)])),
    lambda records: answer(frame(records[0], fields=[], values=b"", code=200, reason=b"strange")),
    lambda records: answer(frame(records[0], fields=[], values=b"", code=10, reason=b"x" * 600)),
    lambda records: bytes(64 << 20),
]


class HostileServer:
    """Answers each question by `make`, of the records that are asked for."""

    def __init__(self, cluster):
        self.port, self.make = free_port(), HOSTILE[0]
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(4), options=[("grpc.max_send_message_length", -1)])
        handler = grpc.unary_unary_rpc_method_handler(self._answer)
        self.server.add_generic_rpc_handlers(
            [grpc.method_handlers_generic_handler("echoline.v1.SamplePreparation", {"Prepare": handler})])
        pair = cluster.server_pair
        credentials = grpc.ssl_server_credentials([(pair.key.read_bytes(), pair.certificate.read_bytes())],
                                                  cluster.ca.file.read_bytes(), True)
        self.server.add_secure_port(f"127.0.0.1:{self.port}", credentials)
        self.server.start()

    def _answer(self, request, _context):
        records = records_of(request)
        if not records:  # it is asked whether it would answer
            return b""
        return self.make(records)

    def stop(self):
        self.server.stop(None)


class Hostile(ProcessCase):
    def setUp(self):
        super().setUp()
        self.records = Records(self.folder(), count=400, ballast=(0, 2000))
        self.cluster = Cluster(self.records.folder, self.records.url)
        with Daemon(self.stream()) as daemon:
            self.expected = self.rows(daemon)

    def stream(self, prepare=""):
        return stream_yaml([f"read: {{url: '{self.records.url}'}}", "shuffle: {window: 50}", DECODE,
                            prepare and f"prepare: {prepare}", "random_crop: {field: image, size: 8, padding: 2}",
                            "batch: {size: 16}"])

    def rows(self, daemon):
        return rows_of(daemon.read("--epochs", 2, "--row-checksums"))

    def test_a_host_uses_none_of_its_answers(self):
        hostile = self.resource(HostileServer(self.cluster))
        honest = self.started(PreparationServer(self.cluster, streams=self.stream(self.cluster.prepare([1]))))
        for kind, make in enumerate(HOSTILE):
            with self.subTest(kind=kind):
                hostile.make = make
                host = self.started(Daemon(self.stream(self.cluster.prepare([hostile.port], "local")), metrics=True))
                self.assertEqual(self.rows(host), self.expected)
                self.assertGreater(host.total("echoline_prepare_requests_total", outcome="damaged"), 0)
                self.assertEqual(host.total("echoline_prepare_bytes_total"), 0)
                self.assertIn("a preparation server is not used", host.log())
                host.check_orderly_stop()
        # With an honest server, too, it costs nothing but its requests.
        host = self.started(Daemon(self.stream(self.cluster.prepare([hostile.port, honest.port])), metrics=True))
        self.assertEqual(self.rows(host), self.expected)
        self.assertEqual(host.total("echoline_prepare_local_records_total"), 0)


if __name__ == "__main__":
    main()
