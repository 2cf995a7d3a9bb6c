#!/usr/bin/env python3
"""Preparation servers and a host as processes: the host's batches are those of a single host, whatever happens to the
servers. ECHOLINE_PREPARATION_KILLS=N repeats the kills N times; ECHOLINE_SEED=N repeats their order."""
import json
import os
import random
import signal
import threading
import time

from support import photos
from support.batches import rows_of
from support.certificates import Authority
from support.daemon_process import Daemon
from support.preparation import Cluster, PreparationServer
from support.process_case import ProcessCase, main
from support.programs import PATIENCE, free_port, run_echoline, wait_until
from support.tars import write_tar

ECHO = ("echo: {factor: 3, window: 40}",)
KILLS = int(os.environ.get("ECHOLINE_PREPARATION_KILLS", 8))
SEED = int(os.environ.get("ECHOLINE_SEED", time.time_ns() % 1_000_000))
# With one server alive no batch may wait longer, plus what a busy machine adds.
LONGEST_WAIT = 2.0 + float(os.environ.get("ECHOLINE_MACHINE_SLACK", 1))


def read_rows(daemon, epochs=2):
    return rows_of(daemon.read("--epochs", epochs, "--row-checksums"))


class PreparationCase(ProcessCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.class_folder()
        photos.made_shards(folder, shards=3, records=60)
        # Records that no decoder takes: the host replaces them as a single host does.
        content, _ = photos.photo(1)
        write_tar(folder / "photos-bad.tar", [("a.jpg", content), ("a.cls", b"1"), ("b.jpg", content[:700]), ("b.cls", b"2"),
                                              ("c.jpg", content), ("d.jpg", content), ("d.cls", b"4")])
        cls.cluster = Cluster(folder, f"{folder}/photos-*.tar")
        cls.records = 3 * 60 + 4

    def expected(self, epochs=2, **more):
        with Daemon(self.cluster.stream(**more)) as daemon:
            return read_rows(daemon, epochs)

    def server(self, **more):
        return self.started(PreparationServer(self.cluster, **more))

    def host(self, servers, fallback="wait", **more):
        """Not started; `servers` may be ports."""
        step = self.cluster.prepare([getattr(server, "port", server) for server in servers], fallback,
                                    **{key: more.pop(key) for key in ("pair", "ca") if key in more})
        return self.unstarted(Daemon(self.cluster.stream(step, **more), metrics=True))

    def served(self, server):
        return server.total("echoline_serve_samples_total")

    def refused_start(self, host, *parts):
        code, log = host.run_to_its_end()
        self.assertEqual(code, 1, log)
        for part in parts:
            self.assertIn(part, log)


class SameRows(PreparationCase):
    def test_two_servers_give_the_rows_of_a_single_host(self):
        servers = [self.server(), self.server()]
        host = self.host(servers).start()
        self.assertEqual(read_rows(host), self.expected())
        served = [self.served(server) for server in servers]
        self.assertTrue(all(count > 0 for count in served), served)
        self.assertGreaterEqual(sum(served), 2 * self.records)
        self.assertGreater(servers[0].total("echoline_serve_samples_total", outcome="bad")
                           + servers[1].total("echoline_serve_samples_total", outcome="bad"), 0)
        self.assertEqual(host.total("echoline_prepare_local_records_total"), 0)
        # Those of the start.
        self.assertLessEqual(host.total("echoline_image_decodes_total"), 8)
        self.assertEqual(host.total("echoline_prepare_servers", state="reachable"), 2)

    def test_a_mixture_is_prepared_with_the_decode_step_of_each_source(self):
        own = ", decode: {image: {key: jpg, as: rgb, fast: false}, label: {key: cls, as: int64}}"
        sources = [f"{{name: {name}, weight: {weight}, read: {{url: '{self.cluster.folder}/{files}', read_ahead: 4MiB}}{decode}}}"
                   for name, weight, files, decode in (("one", 19, "photos-0*.tar", ""), ("other", 1, "photos-bad.tar", own))]
        mixed = {"first": f"mix: {{at_end: repeat, records: 80, sources: [{', '.join(sources)}]}}"}
        servers = [self.server(streams=self.cluster.stream(self.cluster.prepare([1]), **mixed)) for _ in range(2)]
        host = self.host(servers, "local", **mixed).start()
        expected = self.expected(**mixed)
        self.assertEqual(read_rows(host), expected)
        self.assertTrue(all(self.served(server) > 0 for server in servers))
        self.assertEqual(host.total("echoline_prepare_local_records_total"), 0)
        self.assertEqual(host.total("echoline_prepare_servers", state="reachable"), 2)
        for server in servers:
            server.stop(signal.SIGKILL)
        self.assertEqual(read_rows(host), expected)
        server = self.server(streams=self.cluster.stream(self.cluster.prepare([1]), **mixed))
        self.refused_start(self.host([server], first=mixed["first"].replace(own, "")), "differs from the host's")

    def test_an_echo_after_prepare_sends_each_record_once(self):
        server = self.server()
        host = self.host([server], more=ECHO).start()
        self.assertEqual(read_rows(host, 1), self.expected(1, more=ECHO))
        received = host.total("echoline_prepare_bytes_total")
        plain = self.host([server]).start()
        rows = read_rows(plain, 3)
        self.assertEqual(len(rows) // 8, 3 * (self.records // 8))
        # Both read ahead a little more than they give.
        self.assertLess(received, 0.6 * plain.total("echoline_prepare_bytes_total"))

    def test_steps_before_prepare_run_on_the_servers_and_in_the_fallback(self):
        # Of a picture that is cropped next, only a part is decoded. Pictures differ in size, and so do their parts.
        for before, more in ((("resize: {field: image, size: [40, 44]}",), ECHO),
                             (("center_crop: {field: image, size: [40, 44]}",), ()),
                             (("resize: {field: image, size: 60}", "center_crop: {field: image, size: [40, 44]}"), ECHO)):
            with self.subTest(before=before, more=more):
                server = self.server(streams=self.cluster.stream(self.cluster.prepare([1]), before=before, more=more))
                host = self.host([server], "local", before=before, more=more).start()
                expected = self.expected(before=before, more=more)
                self.assertEqual(read_rows(host), expected)
                self.assertEqual(host.total("echoline_prepare_local_records_total"), 0)
                # 40 x 44 pixels, the label and the head.
                self.assertLess(host.total("echoline_prepare_bytes_total"), self.served(server) * 40 * 44 * 3.2)
                server.stop(signal.SIGKILL)
                self.assertEqual(read_rows(host), expected)
                self.assertGreater(host.total("echoline_prepare_local_records_total"), 0)
        self.refused_start(self.host([1], before=("horizontal_flip: {field: image}",)),
                           "(horizontal_flip): draws at random or runs your code", "place it after 'prepare'")

    def test_caches_are_on_their_side_of_prepare(self):
        for more in ({"cache": "{memory: 32MiB}"}, {"after_prepare": "{memory: 64MiB}"}):
            with self.subTest(more=more):
                server = self.server(streams=self.cluster.stream(self.cluster.prepare([1]), **more))
                host = self.host([server], **more).start()
                self.assertEqual(read_rows(host, 3), self.expected(3))
                hits = [daemon.total("echoline_cache_requests_total", outcome="hit") for daemon in (server, host)]
                self.assertEqual([count > 0 for count in hits], ["cache" in more, "after_prepare" in more])
                server.check_orderly_stop()
                host.check_orderly_stop()

    def test_check_names_servers_that_do_not_answer(self):
        server, nobody = self.server(), free_port()
        host = self.host([server, nobody])
        self.assertEqual(run_echoline("index", host.config).returncode, 0)
        checked = run_echoline("check", host.config)
        self.assertIn(": ok\n", checked.stdout)
        self.assertRegex(checked.stdout, "preparation servers: 1 of [23] answer")
        self.assertRegex(checked.stdout, rf"    [^ ]+:{nobody}( \(.*\))?: .*refused")
        server.stop()
        checked = run_echoline("check", host.config)
        self.assertEqual(checked.returncode, 0)
        self.assertIn("ok, except that no preparation server of 1 stream answers", checked.stdout)
        self.assertIn("without one, trainers wait (prepare.fallback: wait)", checked.stdout)
        told = json.loads(run_echoline("check", "--json", host.config).stdout)["streams"]["train"]["preparation_servers"]
        self.assertEqual({one["answers"] for one in told}, {False})
        self.assertTrue(all(one["reason"] for one in told))

    def test_a_server_takes_no_trainers(self):
        server = self.server()
        reader = server.reader("--epochs", 1)
        _, errors = reader.communicate(timeout=PATIENCE)
        self.assertNotEqual(reader.returncode, 0)
        self.assertIn("prepared here for other hosts (daemon.serve)", errors.decode())


class Kills(PreparationCase):
    def test_kills_and_stops_of_servers_change_no_row(self):
        print(f"ECHOLINE_SEED={SEED} ECHOLINE_PREPARATION_KILLS={KILLS}", flush=True)
        draw = random.Random(SEED)
        epochs = 12 + 8 * KILLS
        servers = [self.server(), self.server()]
        host = self.host(servers).start()
        lines, times = [], []
        reader = host.reader("--epochs", epochs, "--row-checksums")
        collect = threading.Thread(target=lambda: [(lines.append(line), times.append(time.monotonic()))
                                                   for line in reader.stdout])
        collect.start()
        kills = 0
        while collect.is_alive() and kills < KILLS:
            time.sleep(draw.uniform(0.1, 0.6))
            victim = draw.choice(servers)
            if draw.random() < 0.3:
                victim.process.send_signal(signal.SIGSTOP)
                time.sleep(draw.uniform(0.1, 2.5))
                victim.process.send_signal(signal.SIGCONT)
            else:
                victim.stop(signal.SIGKILL)
                time.sleep(draw.uniform(0, 0.5))
                victim.start()
            kills += 1
        collect.join(20 * PATIENCE)
        self.assertEqual(reader.wait(PATIENCE), 0, reader.stderr.read())
        longest = max(after - before for before, after in zip(times, times[1:]))
        print(f"{kills} kills and stops in {len(lines)} batches, longest wait {longest:.2f} s, "
              f"{host.total('echoline_prepare_requests_total', outcome='failed'):.0f} failed requests, "
              f"{host.total('echoline_prepare_second_requests_total'):.0f} second ones", flush=True)
        self.assertGreater(kills, KILLS // 2, "the epochs ended before the kills")
        self.assertLess(longest, LONGEST_WAIT)
        self.assertEqual(rows_of([json.loads(line) for line in lines]), self.expected(epochs))


class Fallback(PreparationCase):
    def test_without_servers_local_goes_on_and_servers_are_used_when_they_are_back(self):
        server = self.server()
        host = self.host([server], fallback="local")
        server.stop(signal.SIGKILL)
        host.start()
        self.assertEqual(read_rows(host), self.expected())
        self.assertGreater(host.total("echoline_prepare_local_records_total"), 0)
        self.assertIn("this host reads and decodes itself", host.log())
        server.start()
        wait_until(lambda: host.total("echoline_prepare_servers", state="reachable") == 1, "a server that is back")
        local = host.total("echoline_prepare_local_records_total")
        self.assertEqual(read_rows(host), self.expected())
        self.assertGreater(self.served(server), 0)
        self.assertLess(host.total("echoline_prepare_local_records_total") - local, 2 * self.records)

    def test_with_wait_trainers_get_the_next_rows_when_a_server_is_back(self):
        server = self.server()
        host = self.host([server])
        server.stop(signal.SIGKILL)
        host.start()
        reader = host.reader("--epochs", 2, "--row-checksums")
        wait_until(lambda: "trainers wait (prepare.fallback: wait)" in host.log(), "a line in the log")
        self.assertIsNone(reader.poll())
        server.start()
        output, _ = reader.communicate(timeout=2 * PATIENCE)
        self.assertEqual(rows_of([json.loads(line) for line in output.splitlines()]), self.expected())
        self.assertEqual(host.total("echoline_prepare_local_records_total"), 0)
        self.assertIn("preparation servers answer again", host.log())


class Refusals(PreparationCase):
    def test_another_pipeline_or_data_set_is_an_error_at_start(self):
        step = self.cluster.prepare([1])
        other = self.cluster.stream(step).replace("as: rgb", "as: gray")
        self.refused_start(self.host([self.server(streams=other)]), "prepare.servers: the server ipv4:127.0.0.1:",
                           "differs from the host's", "give both the same")
        fewer = self.cluster.stream(step).replace("photos-*.tar", "photos-00000*.tar")
        self.refused_start(self.host([self.server(streams=fewer)]), "differs from the host's")
        plain = self.cluster.stream(step).replace("  train:", "  other:")
        self.refused_start(self.host([self.server(streams=plain)]), "no stream 'train'; there are: other")

    def test_without_a_known_certificate_nothing_is_served(self):
        server = self.server()
        eve = self.cluster.ca.issue("eve")
        self.refused_start(self.host([server], pair=eve), "the certificate CN=eve", "daemon.serve.allow")
        self.assertEqual(server.total("echoline_serve_calls_total", outcome="denied"), 1)
        foreign = Authority(self.folder(), "foreign")
        # Its handshake fails: to the host this is a server that cannot be reached.
        host = self.host([server], "local", pair=foreign.issue("host")).start()
        self.assertEqual(read_rows(host), self.expected())
        self.assertEqual(host.total("echoline_prepare_bytes_total"), 0)
        # A server whose certificate another authority has signed gets no question.
        host = self.host([server], "local", ca=foreign.file).start()
        self.assertEqual(read_rows(host), self.expected())
        self.assertEqual(self.served(server), 0)

    def test_a_server_that_is_busy_is_asked_again(self):
        server = self.server(memory="16MiB", workers=1)
        hosts = [self.host([server]).start() for _ in range(3)]
        results = []
        threads = [threading.Thread(target=lambda host=host: results.append(read_rows(host, 4))) for host in hosts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10 * PATIENCE)
        self.assertEqual(results, 3 * [self.expected(4)])
        self.assertGreater(server.total("echoline_serve_bytes_limit"), 0)


if __name__ == "__main__":
    main()
