#!/usr/bin/env python3
"""Daemons and an etcd that asks for certificates of clients: hosts agree, and what is not accepted is an error."""
import contextlib

from support.certificates import Authority
from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import require_library
from support.records import DECODE, Records

require_library()

import echoline  # noqa: E402


class EtcdTls(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.folder_of_all = cls.class_folder()
        cls.url = Records(cls.folder_of_all, count=200, ballast=(0, 100)).url
        cls.ca, cls.other = Authority(cls.folder_of_all), Authority(cls.folder_of_all, "other-ca")
        cls.pair = cls.ca.issue("host")

    def etcd(self, names="DNS:localhost,IP:127.0.0.1"):
        pair = self.ca.issue("etcd", names)
        return self.server("etcd_server.py", "--certificate", pair.certificate, "--key", pair.key, "--client-ca",
                           self.ca.file).facts["address"]

    def daemon(self, address, server_ca="", certificate="", key=""):
        named = {"server_ca": server_ca, "certificate": certificate, "key": key}
        more = "".join(f", {name}: {path}" for name, path in named.items() if path)
        return Daemon(stream_yaml([f"read: {{url: '{self.url}', format: webdataset}}", DECODE, "batch: {size: 8}",
                                   "echo: {factor: 1, max: 2, window: 4}"]),
                      more=f"etcd: {{endpoints: ['{address}']{more}}}")

    def own_files(self, **other):
        return {"server_ca": self.ca.file, "certificate": self.pair.certificate, "key": self.pair.key, **other}

    def set_echo(self, daemons):
        """A finished set-echo on the first of the hosts of a job."""
        with contextlib.ExitStack() as stack:
            for rank, daemon in enumerate(daemons):
                stack.enter_context(echoline.Loader("train", rank=rank, world_size=2, local_world_size=1,
                                                    runtime_dir=daemon.runtime_dir))
            return daemons[0].command("set-echo", "train", "2")

    def test_hosts_agree_with_certificates_on_both_sides(self):
        address = self.etcd()
        done = self.set_echo([self.started(self.daemon(address, **self.own_files())) for _ in range(2)])
        self.assertEqual(done.returncode, 0, done.stderr)

    def check_failed(self, address, what, **files):
        daemon = self.started(self.daemon(address, **files))
        done = self.set_echo([daemon])
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(f"etcd {address}: ", done.stderr)
        self.assertIn(what, done.stderr)
        self.assertIn(what, daemon.log())

    def test_what_etcd_or_the_daemon_does_not_accept_is_named(self):
        address = self.etcd()
        own = self.own_files()
        stranger = self.other.issue("stranger")
        self.check_failed(address, "certificate verify failed", **{**own, "server_ca": self.other.file})
        self.check_failed(address, "Endpoint read failed", server_ca=self.ca.file)
        self.check_failed(address, "Endpoint read failed", **{**own, "certificate": stranger.certificate, "key": stranger.key})
        self.check_failed(address, "Socket closed")
        self.check_failed(self.etcd("DNS:elsewhere"), "Peer name 127.0.0.1 is not in peer certificate", **own)


if __name__ == "__main__":
    main()
