#!/usr/bin/env python3
"""The control service over mutual TLS with real certificates: who may call, what each refusal says, and certificates
that change while the daemon runs."""
import shutil
import socket
import ssl
import time

from support.certificates import Authority
from support.control_daemon import ControlDaemon
from support.process_case import ProcessCase, main
from support.programs import PATIENCE, free_port, wait_until

OPERATORS, READERS = "CN=ops, 'DNS:ci.example.org'", "CN=look"


class TlsCase(ProcessCase):
    def setUp(self):
        super().setUp()
        self.port = free_port()
        self.address = f"localhost:{self.port}"
        self.daemon = self.unstarted(ControlDaemon(metrics=True))
        self.ca = Authority(self.daemon.folder)
        self.server = self.ca.issue("server")
        self.ops = self.ca.issue("ops")
        self.configure()

    def configure(self, certificate=None, key=None, ca=None):
        text = self.daemon.config.read_text(encoding="utf-8")
        begin = text.index("control: {")
        control = (f"control: {{operators: [{OPERATORS}], readers: [{READERS}], listen: '0.0.0.0:{self.port}', "
                   f"certificate: {certificate or self.server.certificate}, key: {key or self.server.key}, "
                   f"client_ca: {ca or self.ca.file}}}")
        self.daemon.config.write_text(text[:begin] + control + text[text.index("}", begin) + 1:], encoding="utf-8")

    def files(self, pair=None, ca=None):
        pair = pair or self.ops
        return ["--tls-ca", ca or self.ca.file, "--tls-cert", pair.certificate, "--tls-key", pair.key]

    def call(self, *command, pair=None, ca=None, address=None):
        return self.daemon.call(*command, "--address", address or self.address, *self.files(pair, ca))

    def check_error(self, answer, *parts):
        self.assertEqual(answer[0], 1, answer)
        self.assertEqual(answer[1].count("\n"), 1, answer)
        for part in parts:
            self.assertIn(part, answer[1])

    def metric(self, name, labels=""):
        return self.daemon.metric_lines(f"echoline_control_{name}").get(labels)


class TlsCallers(TlsCase):
    def test_certificates_have_roles(self):
        self.daemon.start()
        code, text = self.call("list")
        self.assertEqual(code, 0, text)
        self.assertIn("train", text)
        look = self.ca.issue("look")
        self.assertEqual(self.call("state", "train", pair=look)[0], 0)
        self.check_error(self.call("delete", "train", pair=look), "the certificate CN=look, DNS:localhost",
                         "may look, but not call DeleteStream")
        self.check_error(self.call("list", pair=self.ca.issue("eve")), "the certificate CN=eve",
                         "may not use the control service", "daemon.control.operators")
        self.assertEqual(self.metric("calls_denied_total"), 2)
        build = self.ca.issue("build", alternative="DNS:ci.example.org")
        self.assertEqual(self.call("delete", "train", pair=build)[0], 0)
        self.assertIn("stream train: the certificate CN=build, DNS:ci.example.org calls DeleteStream", self.daemon.log())

    def test_environment_variables_may_name_address_and_files(self):
        self.daemon.start()
        environment = {"ECHOLINE_ADDRESS": self.address, "ECHOLINE_TLS_CA": str(self.ca.file),
                       "ECHOLINE_TLS_CERT": str(self.ops.certificate), "ECHOLINE_TLS_KEY": str(self.ops.key)}
        self.assertEqual(self.daemon.call("show", "train", environment=environment)[0], 0)
        # A folder on the command line wins over an address in the environment.
        environment["ECHOLINE_ADDRESS"] = "localhost:1"
        self.assertEqual(self.daemon.call("list", "--runtime-dir", self.daemon.runtime_dir,
                                             environment=environment)[0], 0)
        self.check_error(self.daemon.call("list", environment=environment), "nobody answers at localhost:1")

    def test_each_failure_has_its_own_message(self):
        self.daemon.start()
        other = Authority(self.daemon.folder, "other-ca")
        for options, said in (([], "--tls-ca or ECHOLINE_TLS_CA is missing: over TCP the control service speaks TLS"),
                              (["--tls-ca", self.ca.file], "--tls-cert or ECHOLINE_TLS_CERT is missing")):
            code, text = self.daemon.call("list", "--address", self.address, *options)
            self.assertEqual(code, 2, text)
            self.assertIn(said, text)
        self.check_error(self.call("list", ca="/no/such.pem"), "--tls-ca: /no/such.pem: No such file")
        self.check_error(self.call("list", address="no-such-host.invalid:9465"),
                         "there is no host 'no-such-host.invalid'")
        self.check_error(self.call("list", address=f"localhost:{free_port()}"), "nobody answers at localhost:",
                         "is the daemon running, and is this its daemon.control.listen?")
        self.check_error(self.call("list", address=f"localhost:{self.daemon.metrics}"), "speaks no TLS")
        self.check_error(self.call("list", ca=other.file), f"the certificate of {self.address} is not trusted",
                         "name the authority that issued it with --tls-ca")
        self.check_error(self.call("list", address=f"127.0.0.2:{self.port}"), "is not trusted: IP address mismatch",
                         "connect by a name that it holds")
        self.check_error(self.call("list", pair=other.issue("stranger")), "does not take the certificate",
                         "it must be issued by an authority of daemon.control.client_ca")
        late = self.ca.issue("late", days=0)
        self.check_error(self.call("list", pair=late), f"--tls-cert: {late.certificate} has expired; renew it")
        self.assertFalse(self.is_accepted(late))
        self.assertTrue(self.is_accepted(self.ops))
        mixed = self.files()
        mixed[-1] = other.key
        self.check_error(self.daemon.call("list", "--address", self.address, *mixed),
                         f"--tls-key: {other.key} cannot be used (key values mismatch)")

    def is_accepted(self, pair):
        """Whether the daemon accepts the certificate, without the checks of the command line."""
        context = ssl.create_default_context(cafile=self.ca.file)
        context.set_alpn_protocols(["h2"])
        context.load_cert_chain(pair.certificate, pair.key)
        with socket.create_connection(("localhost", self.port)) as plain, \
                context.wrap_socket(plain, server_hostname="localhost") as wrapped:
            try:
                return bool(wrapped.recv(1))
            except (ssl.SSLError, ConnectionError):
                return False


class TlsStart(TlsCase):
    def check_refused(self, what, **files):
        """The daemon refuses to start, and `echoline check` names the place in the file."""
        self.configure(**files)
        code, log = self.daemon.run_to_its_end()
        self.assertEqual(code, 1)
        place = self.daemon.config.read_text(encoding="utf-8").partition("control: {")[0].count("\n") + 1
        checked = self.daemon.call("check", self.daemon.config)
        self.check_error(checked, f"{self.daemon.config}:{place}:", what)
        self.assertIn(what, log.splitlines()[-1])

    def test_wrong_files_are_refused_by_name(self):
        late, empty = self.ca.issue("late", days=0), self.daemon.folder / "empty"
        empty.touch()
        self.check_refused("daemon.control.certificate: /no/such.pem: No such file", certificate="/no/such.pem")
        self.check_refused(f"daemon.control.certificate: {empty}: holds no certificate", certificate=empty)
        self.check_refused(f"daemon.control.key: {self.ops.key}: does not belong to the certificate in",
                           key=self.ops.key)
        self.check_refused(f"daemon.control.key: {empty}: holds no private key", key=empty)
        self.check_refused(f"daemon.control.certificate: {late.certificate}: expired on", certificate=late.certificate,
                           key=late.key)
        self.check_refused(f"daemon.control.client_ca: {empty}: holds no certificate", ca=empty)
        self.assertEqual(self.daemon.call("check", "--offline", self.daemon.config)[0], 0)
        self.configure()
        self.assertEqual(self.daemon.call("check", self.daemon.config)[0], 0)
        with socket.create_server(("0.0.0.0", self.port)):
            code, log = self.daemon.run_to_its_end()
        self.assertEqual(code, 1)
        self.assertIn(f"daemon.control.listen: 0.0.0.0:{self.port} is in use; choose another port",
                      log.splitlines()[-1])


class TlsCertificateChange(TlsCase):
    def serial(self):
        """The serial number of the certificate that the daemon presents."""
        context = ssl.create_default_context(cafile=self.ca.file)
        context.load_cert_chain(self.ops.certificate, self.ops.key)
        with socket.create_connection(("localhost", self.port)) as plain, \
                context.wrap_socket(plain, server_hostname="localhost") as wrapped:
            return wrapped.getpeercert()["serialNumber"]

    def replace(self, target, source):
        shutil.copy(source, f"{target}.new")
        target.with_name(target.name + ".new").rename(target)

    def reloads(self, outcome):
        return self.metric("certificate_reloads_total", f'{{outcome="{outcome}"}}')

    def test_a_new_certificate_is_used_without_a_restart_and_a_bad_one_is_not(self):
        self.daemon.start()
        first = self.serial()
        self.assertGreater(self.metric("certificate_expiry_timestamp_seconds"), time.time() + 86400)
        renewed = self.ca.issue("renewed", days=5)
        self.replace(self.server.certificate, renewed.certificate)
        self.replace(self.server.key, renewed.key)
        wait_until(lambda: self.serial() != first, "the renewed certificate")
        second = self.serial()
        self.assertGreater(self.metric("certificate_expiry_timestamp_seconds"), time.time() + 4 * 86400)
        for bad in (self.ca.issue("late", days=0).certificate, self.daemon.config, self.ops.certificate):
            failed = self.reloads("failed")
            self.replace(self.server.certificate, bad)
            wait_until(lambda before=failed: self.reloads("failed") > before, f"the refusal of {bad}")
            self.assertEqual(self.serial(), second)
            self.assertEqual(self.call("list")[0], 0)
        self.assertIn("; the certificate that was read before stays in use", self.daemon.log())
        self.replace(self.server.certificate, renewed.certificate)
        good = self.reloads("ok")
        wait_until(lambda: self.reloads("ok") > good, "the good file")

    def test_a_new_authority_of_clients_is_used_without_a_restart(self):
        self.daemon.start()
        self.assertEqual(self.call("list")[0], 0)
        other = Authority(self.daemon.folder, "other-ca")
        newcomer = other.issue("ops2", subject="ops")
        # The client still needs the authority of the server's certificate after its file was replaced.
        server_ca = shutil.copy(self.ca.file, self.daemon.folder / "server-ca.pem")
        self.assertEqual(self.call("list", pair=newcomer)[0], 1)
        authorities = self.daemon.folder / "authorities.pem"
        shutil.copy(other.file, authorities)
        self.replace(self.ca.file.with_name("ca.pem"), authorities)
        wait_until(lambda: self.call("list", pair=newcomer, ca=server_ca)[0] == 0, "the new authority")
        self.check_error(self.call("list", ca=server_ca), "does not take the certificate")


class TlsConnectionLimits(TlsCase):
    def connect(self, source):
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE, (source, 0))

    def connections(self):
        return self.metric("connections", '{transport="tls"}')

    def test_connections_that_send_nothing_or_garbage_are_closed(self):
        self.daemon.start()
        with self.connect("127.0.0.1") as silent, self.connect("127.0.0.1") as noisy:
            noisy.sendall(b"GET / HTTP/1.1\r\n\r\n" * 100)
            wait_until(lambda: self.connections() <= 1, "the end of the connection that sent garbage")
            self.assertEqual(silent.recv(1), b"")
        wait_until(lambda: self.connections() == 0, "the end of the silent connection")
        self.assertEqual(self.call("list")[0], 0)

    def test_of_a_thousand_connections_most_are_refused_and_other_callers_are_served(self):
        self.daemon.start()
        held = [self.connect("127.0.0.2") for _ in range(1000)]
        self.addCleanup(lambda: [one.close() for one in held])
        self.assertEqual(self.call("list")[0], 0)
        self.assertEqual(self.daemon.call("list", "--runtime-dir", self.daemon.runtime_dir)[0], 0)
        self.assertLessEqual(self.connections(), 128)
        wait_until(lambda: self.metric("connections_refused_total") >= 900, "900 refused connections")
        self.assertEqual(self.call("list")[0], 0)


if __name__ == "__main__":
    main()
