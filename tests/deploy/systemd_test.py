#!/usr/bin/env python3
"""The service under systemd as the first process of a system: when it counts as started, what happens to trainers when
it hangs, dies, restarts or stops, who may attach, and what the journal contains."""
import itertools
import time
import unittest

from booted import Booted, Trainer, wait_for
from clean_root import CleanRoot, build_packages

STEPS, BATCH = 10, 4
CONFIG = """
daemon: {metrics: "off", memory: 256MiB, workers: 1}
streams:
  train:
    seed: 3
    pipeline:
      - read: {url: "/srv/set-*.tar", format: webdataset}
      - shuffle: {window: 20}
      - decode: {image: {key: u8, as: uint8, shape: [2, 3]}, label: {key: cls, as: int64}}
      - batch: {size: 4}
      - publish: {slots: 4, access: [alice]}
"""
MADE = """
images = bytes([0, 0, 8, 3, 0, 0, 0, 40, 0, 0, 0, 2, 0, 0, 0, 3]) + b"".join(bytes([n] * 6) for n in range(40))
open("/srv/images", "wb").write(images)
open("/srv/labels", "wb").write(bytes([0, 0, 8, 1, 0, 0, 0, 40, *range(40)]))
"""
TRAINER = """
import json, sys, time
import echoline

def tell(**facts):
    print(json.dumps(facts), flush=True)

try:
    loader = echoline.Loader("train", job=sys.argv[1], reattach=sys.argv[2])
    while True:
        for batch in loader:
            tell(epoch=batch.epoch, step=batch.step, labels=[int(label) for label in batch["label"]],
                 time=time.monotonic())
            del batch
            time.sleep(0.02)
except echoline.Error as error:
    tell(error=str(error))
"""


class Service(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        files = build_packages()
        root = CleanRoot()
        cls.enterClassContext(root)
        root.install("systemd-sysv", "dbus", *(files[name] for name in ("libecholine0", "echoline", "python3-echoline")))
        root.call("python3", "-c", MADE)
        root.call("echoline", "pack", "--from", "idx", "--output", "/srv", "--name", "set", "/srv/images", "/srv/labels")
        root.write("/srv/trainer.py", TRAINER)
        root.write("/etc/echoline/echoline.yaml", CONFIG)
        root.call("useradd", "--groups", "echoline", "alice")
        root.call("useradd", "bob")
        cls.machine = cls.enterClassContext(Booted(root))

    def setUp(self):
        # A trainer that waits for a daemon would start the daemon through the socket.
        self.addCleanup(self.machine.call, "systemctl", "stop", "trainer-*")
        self.machine.call("systemctl", "reset-failed")
        self.machine.call("systemctl", "start", "echolined.service")

    def pid(self):
        return self.machine.show("echolined.service", "MainPID")

    def configure(self, text):
        """Changes the configuration until the end of the test."""
        def restart_with(text):
            self.machine.root.write("/etc/echoline/echoline.yaml", text)
            self.machine.call("systemctl", "restart", "echolined.service", check=False)
        restart_with(text)
        self.addCleanup(restart_with, CONFIG)

    def signal(self, name):
        self.machine.call("systemctl", "kill", f"--signal={name}", "echolined.service")

    def check_complete(self, trainer):
        """All steps of all epochs came once and in order, and each epoch had all labels."""
        batches = [line for line in trainer.stop() if "step" in line]
        places = [(batch["epoch"], batch["step"]) for batch in batches]
        self.assertEqual(places, [divmod(place, STEPS) for place in range(len(places))])
        for begin in range(0, len(batches) - STEPS + 1, STEPS):
            labels = [label for batch in batches[begin:begin + STEPS] for label in batch["labels"]]
            self.assertEqual(sorted(labels), list(range(STEPS * BATCH)))
        pauses = [after["time"] - before["time"] for before, after in itertools.pairwise(batches)]
        print(f"{len(batches)} batches, longest pause {max(pauses):.1f} s ... ", end="", flush=True)

    def await_new_daemon(self, old, what):
        wait_for(lambda: self.pid() not in ("0", old) and
                 self.machine.show("echolined.service", "ActiveState") == "active", what,
                 lambda: self.machine.call("systemctl", "status", "echolined.service", check=False))

    def test_it_is_active_when_it_is_ready_and_not_before(self):
        self.machine.call("systemctl", "restart", "echolined.service")
        active = int(self.machine.show("echolined.service", "ActiveEnterTimestampMonotonic"))
        begin = int(self.machine.show("echolined.service", "InactiveExitTimestampMonotonic"))
        ready = [int(entry["__MONOTONIC_TIMESTAMP"]) for entry in self.machine.journal("echolined.service")
                 if entry["MESSAGE"].startswith("ready:")][-1]
        self.assertTrue(begin < ready, (begin, ready))
        # The journal stamps an entry when it reads it, which may be after systemd got the notification.
        self.assertLess(ready - active, 1_000_000)

    def test_it_runs_without_rights_as_its_own_user(self):
        status = self.machine.call("cat", f"/proc/{self.pid()}/status")
        facts = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        self.assertEqual((facts["CapEff"], facts["CapBnd"]), ("0" * 16, "0" * 16))
        self.assertEqual((facts["NoNewPrivs"], facts["Seccomp"]), ("1", "2"))
        uid = self.machine.call("id", "--user", "echoline").strip()
        self.assertEqual(facts["Uid"].split(), [uid] * 4)

    def test_a_trainer_of_another_user_reads_and_one_outside_the_group_does_not(self):
        alice = Trainer(self.machine, "reads", "alice", "reads", "60s").await_batches(3 * STEPS)
        self.check_complete(alice)
        bob = Trainer(self.machine, "stranger", "bob", "stranger", "0s")
        self.assertIn("ermission denied", bob.await_end()["error"])

    def test_a_daemon_that_hangs_is_killed_and_its_trainer_continues_with_the_next_batch(self):
        self.machine.set("echolined.service", "Service", WatchdogSec="4s")
        self.addCleanup(self.machine.set, "echolined.service", "Service")
        self.machine.call("systemctl", "restart", "echolined.service")
        trainer = Trainer(self.machine, "hang", "alice", "hang", "120s").await_batches(5)
        time.sleep(6)  # longer than the watchdog's timeout: systemd must not kill a healthy daemon
        old = self.pid()
        self.assertEqual(self.machine.show("echolined.service", "NRestarts"), "0")
        self.signal("STOP")
        self.await_new_daemon(old, "the watchdog restarts it")
        self.check_complete(trainer.await_more())
        self.assertTrue(any("watchdog" in entry["MESSAGE"].lower()
                            for entry in self.machine.journal("echolined.service")))

    def test_a_daemon_that_is_killed_comes_back_and_its_trainer_continues_with_the_next_batch(self):
        trainer = Trainer(self.machine, "kill", "alice", "kill", "120s").await_batches(5)
        for _ in range(3):
            old = self.pid()
            self.signal("KILL")
            self.await_new_daemon(old, "it is restarted")
            trainer.await_more()
        self.check_complete(trainer)

    def test_a_restart_under_load_loses_no_batch_and_newcomers_wait(self):
        trainer = Trainer(self.machine, "restart", "alice", "restart", "120s").await_batches(5)
        self.machine.call("systemctl", "restart", "--no-block", "echolined.service")
        newcomer = Trainer(self.machine, "newcomer", "alice", "newcomer", "0s").await_batches(5)
        trainer.await_more()
        self.check_complete(trainer)
        self.check_complete(newcomer)
        self.assertEqual(self.machine.show("echolined.service", "Result"), "success")

    def test_an_upgrade_of_the_package_under_three_trainers_loses_no_batch(self):
        trainers = [Trainer(self.machine, f"upgrade-{name}", "alice", f"upgrade-{name}", "120s").await_batches(5)
                    for name in "abc"]
        old = self.pid()
        self.machine.call("rm", "--force", "/usr/sbin/policy-rc.d")
        self.machine.call("sh", "-c", "dpkg --install /opt/echoline_*.deb")
        self.await_new_daemon(old, "the new daemon is started")
        for trainer in trainers:
            self.check_complete(trainer.await_more())

    def test_a_connection_to_the_socket_starts_the_daemon(self):
        self.machine.call("systemctl", "stop", "echolined.socket", "echolined.service")
        self.machine.call("systemctl", "start", "echolined.socket")
        self.assertEqual(self.machine.show("echolined.service", "ActiveState"), "inactive")
        trainer = Trainer(self.machine, "first", "alice", "first", "0s").await_batches(5)
        self.assertEqual(self.machine.show("echolined.service", "ActiveState"), "active")
        self.check_complete(trainer)

    def test_a_stop_drains_and_leaves_no_socket(self):
        trainer = Trainer(self.machine, "stopped", "alice", "stopped", "0s").await_batches(5)
        self.machine.call("systemctl", "stop", "echolined.socket", "echolined.service")
        self.assertIn("error", trainer.await_end())
        self.assertEqual(self.machine.show("echolined.service", "Result"), "success")
        said = [entry["MESSAGE"] for entry in self.machine.journal("echolined.service")]
        self.assertIn("stopped", said)
        self.assertFalse(self.machine.root.exists("/run/echoline/door.sock"))

    def test_the_journal_has_levels_rooms_and_streams(self):
        entries = self.machine.journal("echolined.service")
        opened = [entry for entry in entries if entry["MESSAGE"].startswith("stream train: 40 records")][-1]
        self.assertEqual((opened["PRIORITY"], opened["ECHOLINE_ROOM"], opened["ECHOLINE_STREAM"],
                          opened["SYSLOG_IDENTIFIER"]), ("6", "engine", "train", "echolined"))
        by_stream = self.machine.call("journalctl", "ECHOLINE_STREAM=train", "--output", "cat")
        self.assertIn("stream train: 40 records", by_stream)

    def test_another_runtime_folder_needs_one_line_in_a_drop_in(self):
        cached = CONFIG.replace("shuffle:", "cache: {disk: {path: /srv/cache, size: 64MiB}}\n      - shuffle:")
        self.machine.call("install", "-d", "-o", "echoline", "/srv/cache")
        self.configure(cached)
        errors = self.machine.call("journalctl", "--unit", "echolined", "--priority", "err", "--output", "cat")
        self.assertIn("/srv/cache/lock: Read-only file system", errors)
        self.machine.set("echolined.service", "Service", ReadWritePaths="/srv/cache")
        self.addCleanup(self.machine.set, "echolined.service", "Service")
        self.machine.call("systemctl", "restart", "echolined.service")
        Trainer(self.machine, "cached", "alice", "cached", "60s").await_batches(2 * STEPS)
        self.assertTrue(self.machine.root.exists("/srv/cache/lock"))

    def test_a_failed_start_is_an_error_in_the_journal(self):
        self.configure(CONFIG.replace("set-*.tar", "none-*.tar"))
        errors = self.machine.call("journalctl", "--unit", "echolined", "--priority", "err", "--output", "cat")
        self.assertIn("/srv/none-*.tar", errors)


if __name__ == "__main__":
    unittest.main(verbosity=2)
