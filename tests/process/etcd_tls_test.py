#!/usr/bin/env python3
"""Daemons and an etcd that asks for certificates of clients: hosts agree, and each wrong file has a message of its own."""
import contextlib

from support.certificates import Authority
from support.daemon_process import Daemon, stream_yaml
from support.process_case import ProcessCase, main
from support.programs import require_library, run_echoline
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
        self.check_failed(address, "daemon.etcd.server_ca has no authority that issued the certificate of this etcd",
                          **{**own, "server_ca": self.other.file})
        self.check_failed(address, "name a certificate in daemon.etcd.certificate", server_ca=self.ca.file)
        self.check_failed(address, "daemon.etcd.certificate", **{**own, "certificate": stranger.certificate, "key": stranger.key})
        self.check_failed(address, "name its authorities in daemon.etcd.server_ca")
        self.check_failed(self.etcd("DNS:elsewhere"), "make it with this name", **own)

    def check_refused(self, what, **files):
        """The daemon refuses to start, and `echoline check` names the line."""
        daemon = self.unstarted(self.daemon("127.0.0.1:1", **self.own_files(**files)))
        code, log = daemon.run_to_its_end()
        self.assertEqual(code, 1)
        self.assertIn(what, log.splitlines()[-1])
        checked = run_echoline("check", daemon.config)
        self.assertIn(f"{daemon.config}:1:", checked.stderr)
        self.assertIn(what, checked.stderr)

    def test_wrong_files_are_refused_at_the_start(self):
        late = self.ca.issue("late", days=0)
        empty = self.folder_of_all / "empty"
        empty.touch()
        self.check_refused("daemon.etcd.server_ca: /no/such.pem: No such file", server_ca="/no/such.pem")
        self.check_refused(f"daemon.etcd.server_ca: {empty}: holds no certificate", server_ca=empty)
        self.check_refused("daemon.etcd.certificate: /no/such.pem: No such file", certificate="/no/such.pem")
        self.check_refused(f"daemon.etcd.key: {late.key}: does not belong to the certificate in", key=late.key)
        self.check_refused(f"daemon.etcd.certificate: {late.certificate}: expired on", certificate=late.certificate, key=late.key)


if __name__ == "__main__":
    main()
