#!/usr/bin/env python3
"""The files of deploy/kubernetes/preparation as they are, on local photos and certificates of openssl: a server with the
arguments of its Deployment, the daemons of two hosts, the two trainers of the JobSet, and Prometheus with the rules that
the autoscalers read. Only addresses, folders and the size of a batch are others."""
import os
import pathlib
import subprocess
import sys
import unittest
import urllib.request

from kubernetes_files import DEPLOY, FOLDER, documents, named, pods, yaml

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / folder) for folder in ("process", "servers", "monitoring")]
import queries  # noqa: E402
from memcached_server import Memcached  # noqa: E402
from prometheus_process import Prometheus  # noqa: E402
from support.certificates import Authority  # noqa: E402
from support.daemon_process import Daemon  # noqa: E402
from support.process_case import ProcessCase, main  # noqa: E402
from support.programs import PATIENCE, end_with_parent, free_port, require_library, run_echoline, skip  # noqa: E402

RECORDS, BATCH = 3 * 64, 16
# With numpy and PIL; the Python of this test has the schemas.
PYTHON = os.environ.get("ECHOLINE_NUMPY_PYTHON") or skip("no Python with numpy and PIL (python3-numpy, python3-pil)")
CONFIG = documents(FOLDER / "preparation" / "echoline.yaml")[0]
CONTAINER = named("preparation", "Deployment")["echoline-prepare"]["spec"]["template"]["spec"]["containers"][0]


class ClusterOnOneMachine(ProcessCase):
    @classmethod
    def setUpClass(cls):
        require_library()
        queries.program("prometheus")
        cls.data = cls.class_folder()
        subprocess.run([PYTHON, "-B", "-c", f"from support import photos; photos.made_shards({str(cls.data)!r}, 3, 64)"],
                       cwd=TESTS / "process", check=True)
        authority = Authority(cls.data)
        # The files that the Secrets of ../certificates have.
        for side, pair in (("server", authority.issue("server")), ("host", authority.issue("host", subject="echoline-host"))):
            folder = cls.data / side
            folder.mkdir()
            pair.certificate.rename(folder / "tls.crt")
            pair.key.rename(folder / "tls.key")
            (folder / "ca.crt").write_bytes(authority.file.read_bytes())

    def setUp(self):
        super().setUp()
        self.fleet = [self.enterContext(Memcached()).address for _ in range(3)]
        self.port = free_port()

    def configured(self, side):
        """A daemon, not started, with the file of the ConfigMap."""
        daemon = self.unstarted(Daemon("", metrics=True))
        text = yaml.safe_dump(CONFIG).replace("/etc/echoline-tls", str(self.data / side))
        config = yaml.safe_load(text.replace("echoline-prepare.echoline.svc.cluster.local:9466", f"localhost:{self.port}"))
        config["daemon"] |= {"runtime_dir": str(daemon.runtime_dir), "state_dir": str(daemon.state_dir),
                             "metrics": f"127.0.0.1:{daemon.metrics}"}
        local = {"read": {"url": f"{self.data}/photos-*.tar"}, "cache": {"fleet": self.fleet}, "batch": {"size": BATCH}}
        for step in config["streams"]["train"]["pipeline"]:
            step.update({name: value for name, value in local.items() if name in step})
        daemon.config.write_text(yaml.safe_dump(config), encoding="utf-8")
        return daemon

    def server(self):
        daemon = self.configured("server")
        arguments = [one.replace("/etc/echoline-tls", str(self.data / "server"))
                     .replace("/var/lib/echoline/run", str(daemon.runtime_dir))
                     .replace("/var/lib/echoline", str(daemon.state_dir))
                     .replace("0.0.0.0:9466", f"127.0.0.1:{self.port}") for one in CONTAINER["args"]]
        return daemon.start(*(one for one in arguments if not one.startswith("--config=")))

    def trainer(self, host, rank):
        """The container of the JobSet's pod with this index, without end."""
        _, template = pods("jobset")[0]
        container, = template["spec"]["containers"]
        environment = {one["name"]: one.get("value", str(rank)) for one in container["env"]}
        self.assertEqual(container["args"][:2], ["python3", "/usr/share/echoline/train.py"])
        process = subprocess.Popen(
            [PYTHON, "-B", "-u", DEPLOY / "trainer" / "train.py", *container["args"][2:4], "0"],
            env={**os.environ, **environment, "ECHOLINE_RUNTIME_DIR": str(host.runtime_dir)}, stdout=subprocess.PIPE,
            text=True, preexec_fn=end_with_parent)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_two_hosts_train_on_what_a_server_prepares_and_the_rules_have_values(self):
        server = self.server()
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            path = CONTAINER[probe]["httpGet"]["path"]
            with urllib.request.urlopen(f"http://127.0.0.1:{server.metrics}{path}", timeout=PATIENCE) as answer:
                self.assertEqual(answer.status, 200)
        hosts = [self.configured("host").start() for _ in range(2)]
        done = run_echoline("check", hosts[0].config)
        self.assertEqual(done.returncode, 0, done.stderr)
        trainers = [self.trainer(host, rank) for rank, host in enumerate(hosts)]
        for trainer in trainers:
            first = [trainer.stdout.readline() for _ in range(2)][-1]
            self.assertRegex(first, rf"^epoch 1: .* {2 * RECORDS // 2} images,")
        for host in hosts:
            self.assertGreater(host.total("echoline_prepare_bytes_total"), 0)
            self.assertEqual(host.total("echoline_prepare_local_records_total"), 0)
        self.check_rules(server, hosts)

    def check_rules(self, server, hosts):
        targets = [f"127.0.0.1:{daemon.metrics}" for daemon in (server, *hosts)]
        prometheus = self.resource(Prometheus(*targets, rules=[queries.PREPARATION_RULES]))
        ((_, wanted),) = prometheus.await_data("namespace:echoline_servers_wanted:ratio")
        self.assertGreater(wanted, 0)
        ((labels, ratio),) = prometheus.await_data("namespace_stream:echoline_demand:rate2m / namespace_stream:echoline_supply:rate2m")
        self.assertEqual(labels, {"stream": "train"})
        self.assertGreaterEqual(ratio, 0.99)
        ((_, busy),) = prometheus.await_data("namespace:echoline_servers_busy:ratio2m")
        self.assertTrue(0 < busy <= 1, busy)


if __name__ == "__main__":
    main()
