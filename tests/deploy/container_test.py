#!/usr/bin/env python3
"""The images of the Dockerfile as users get them: their size, their content, and the programs in them.

The daemon in one container feeds trainers in others through a shared volume: of another user, in another user namespace,
without a network; with a memory limit; through a kill and a restart; until `podman stop`. Needs root and podman."""
import os
import re
import tarfile
import time
import unittest

from podman import PATIENCE, ROOT, Podman

IMAGE, TRAINER = "localhost/echoline-test:daemon", "localhost/echoline-test:trainer"
LARGEST = 150_000_000  # bytes of the daemon's image
TOOLS = re.compile(r"(^|/)(gcc|g\+\+|cc1|ld|as|cmake|ninja|python3?[.0-9]*|perl|sh|bash|apt|dpkg|curl|wget)$")
CONFINED = ["--read-only", "--read-only-tmpfs=false", "--cap-drop=ALL", "--security-opt=no-new-privileges",
            "--network=none", "--shm-size=64k"]
CONFIG = """
daemon: {{memory: {memory}, workers: 2, metrics: "off"}}
streams:
  train:
    pipeline:
      - read:    {{url: "/samples/*.tar", format: webdataset}}
      - shuffle: {{window: 500}}
      - decode:  {{image: {{key: u8, as: uint8, shape: [16, 16, 1]}}, label: {{key: cls, as: int64}}}}
      - echo:    {{factor: 2, window: 500}}
      - random_resized_crop: {{field: image, size: 16, scale: [0.6, 1.0]}}
      - batch:   {{size: 64}}
      - publish: {{slots: {slots}}}
"""
# Prints one line: the user, what the trainer reads, and whether it could write a batch.
LOOK = """
import os, pathlib, echoline
loader = echoline.Loader("train", job="look", join="current")
batch = next(iter(loader))
print("uid", os.getuid(), "outside", pathlib.Path("/proc/self/uid_map").read_text().split()[1],
      "rows", len(batch["label"]), "writeable", batch["image"].flags.writeable)
"""


def setUpModule():
    global podman
    podman = Podman()
    unittest.addModuleCleanup(podman.close)
    podman.need_debian()
    podman.build(IMAGE)
    podman.build(TRAINER, "--target", "trainer")


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        name = f"{podman.prefix}-files"
        podman("create", "--name", name, IMAGE)
        podman("export", "--output", podman.folder / "files.tar", name)
        podman.remove(name)
        with tarfile.open(podman.folder / "files.tar") as tar:
            cls.members = tar.getmembers()
            cls.packages = {member.name.split("/")[-1] for member in cls.members if "dpkg/status.d/" in member.name}

    def test_the_image_is_small(self):
        size = podman.facts(IMAGE, "image")["Size"]
        print(f"\nthe daemon's image: {size / 1e6:.1f} MB in {len(self.members)} files of {len(self.packages)} packages; "
              f"the trainer's: {podman.facts(TRAINER, 'image')['Size'] / 1e6:.1f} MB")
        self.assertLess(size, LARGEST)

    def test_the_image_has_no_tool_to_build_or_to_attack_with(self):
        self.assertEqual([member.name for member in self.members
                          if not member.isdir() and TOOLS.search(member.name)], [])
        self.assertEqual([member.name for member in self.members if member.mode & 0o6000], [])

    def test_every_library_has_its_licence_and_its_version(self):
        self.assertIn("libc6", self.packages)
        licences = {member.name.split("/")[-2] for member in self.members if member.name.endswith("/copyright")}
        self.assertEqual(licences, self.packages)

    def test_the_image_has_labels_and_an_unprivileged_user(self):
        config = podman.facts(IMAGE, "image")["Config"]
        version = re.search(r"VERSION (\d+\.\d+\.\d+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
        self.assertEqual(config["Labels"]["org.opencontainers.image.version"], version)
        self.assertEqual(config["Labels"]["org.opencontainers.image.licenses"], "Apache-2.0")
        self.assertIn("org.opencontainers.image.source", config["Labels"])
        self.assertEqual(config["User"], "10001:10001")
        self.assertEqual(podman("run", "--rm", *CONFINED, IMAGE, "--version").strip(), f"echolined {version}")


class Line(unittest.TestCase):
    """Each test has its own daemon, over the generated pictures of deploy/trainer."""

    @classmethod
    def setUpClass(cls):
        cls.samples = podman.volume("samples")
        podman("run", "--rm", *CONFINED, "--volume", f"{cls.samples}:/samples", TRAINER,
               "python3", "/usr/share/echoline/samples.py", "/samples")

    def setUp(self):
        self.test = self._testMethodName.removeprefix("test_")[:20]
        self.door = podman.volume(f"door-{self.test}")
        self.config = podman.folder / f"{self.test}.yaml"

    def daemon_arguments(self, *arguments, memory="64MiB", slots=8):
        self.config.write_text(CONFIG.format(memory=memory, slots=slots))
        return [*CONFINED, *arguments, "--volume", f"{self.config}:/etc/echoline/echoline.yaml:ro", "--volume",
                f"{self.samples}:/samples:ro", "--volume", f"{self.door}:/run/echoline", IMAGE]

    def start_daemon(self, *arguments, **settings):
        name = podman.start(f"daemon-{self.test}", *self.daemon_arguments(*arguments, **settings))
        self.await_log(name, "ready:")
        return name

    def trainer_arguments(self, *arguments):
        return [*CONFINED, "--volume", f"{self.door}:/run/echoline:ro", *arguments, TRAINER]

    def await_log(self, name, text, count=1):
        podman.await_(lambda: podman.logs(name).count(text) >= count, f"'{text}' from {name}", name)

    def look(self, *arguments):
        return podman.call("run", "--rm", *self.trainer_arguments(*arguments), "python3", "-c", LOOK)

    def test_two_trainers_learn_from_one_confined_daemon(self):
        daemon = self.start_daemon()
        self.assertEqual(podman("healthcheck", "run", daemon).strip(), "")
        self.assertEqual(podman.facts(daemon)["State"]["Health"]["Status"], "healthy")
        train = ["python3", "/usr/share/echoline/train.py", "train"]
        trainers = [podman.start(f"trainer-{job}", *self.trainer_arguments(), *train, job, "2") for job in "ab"]
        for trainer in trainers:
            self.assertEqual(podman("wait", trainer).strip(), "0", podman.logs(trainer))
            losses = [float(loss) for loss in re.findall(r"loss (\d+\.\d+)", podman.logs(trainer))]
            self.assertEqual(len(losses), 2)
            self.assertLess(losses[1], min(losses[0], 1.0))
            self.assertEqual(podman.logs(trainer).count(" 8000 images, "), 2)  # 4,000 records, each used twice
        self.assertIn("train", podman("exec", daemon, "echoline", "list"))

    def test_a_trainer_of_another_user_reads(self):
        self.start_daemon()
        code, said = self.look("--user", "4321:10001")
        self.assertEqual(code, 0, said)
        self.assertIn("uid 4321 outside 0 rows 64 writeable False", said)
        code, said = self.look("--user", "4321:4321", "--group-add", "10001")
        self.assertEqual(code, 0, said)

    def test_a_trainer_in_another_user_namespace_reads(self):
        self.start_daemon("--user", "10001:210001")  # the group as the host knows it
        apart = ["--uidmap", "0:200000:65536", "--gidmap", "0:200000:65536"]
        code, said = self.look(*apart, "--user", "1000:10001")
        self.assertEqual(code, 0, said)
        self.assertIn("uid 1000 outside 200000 rows 64 writeable False", said)
        code, said = self.look(*apart, "--user", "1000:1000")
        self.assertEqual(code, 1, said)

    def test_a_user_outside_the_group_gets_an_error_that_says_so(self):
        self.start_daemon()
        code, said = self.look("--user", "4321:4321")
        self.assertEqual(code, 1)
        self.assertRegex(said, r"(?i)permission denied.*door\.sock|door\.sock.*permission denied")

    def test_a_limit_below_the_budget_is_refused_with_the_numbers(self):
        for memory, missing in (("256MiB", "176MiB are missing"), ("2GiB", "are missing")):
            code, said = podman.call("run", "--rm", *self.daemon_arguments("--memory=128m", memory=memory))
            self.assertEqual(code, 1, said)
            self.assertIn(f"daemon.memory is {memory}, but the control group", said)
            self.assertIn("has 128MiB", said)
            self.assertIn(missing, said)

    def test_rings_are_charged_to_the_daemon_alone(self):
        daemon = self.start_daemon("--memory=264m", memory="200MiB", slots=10000)  # a ring of 169 MB
        code, said = podman.call("run", "--rm", *self.trainer_arguments("--memory=128m"), "python3",
                                 "/usr/share/echoline/train.py", "train", "a", "90")  # 125 slots an epoch
        self.assertEqual(code, 0, said)
        state = podman.facts(daemon)["State"]
        self.assertEqual((state["Status"], state["OOMKilled"]), ("running", False))

    def test_folders_with_the_rights_that_kubernetes_gives_work(self):
        """A folder of the host, which deploy/kubernetes/base gives to the daemon, and one of a pod, as in sidecar."""
        of_host, of_pod = podman.folder / "host", podman.folder / "pod"
        of_host.mkdir(mode=0o755)
        of_pod.mkdir()
        os.chown(of_pod, 0, 10001)
        of_pod.chmod(0o2777)
        podman("run", "--rm", *CONFINED, "--cap-add=CHOWN", "--user=0", "--volume", f"{of_host}:/run/echoline", TRAINER,
               "chown", "10001:10001", "/run/echoline")
        podman("run", "--rm", *CONFINED, "--user=10001:10001", "--volume", f"{of_pod}:/pod", TRAINER,
               "mkdir", "-p", "-m", "0750", "/pod/echoline")
        for folder in (of_host, of_pod / "echoline"):
            self.door = folder
            daemon = self.start_daemon()
            code, said = self.look("--user", "10002:10002", "--group-add", "10001")
            self.assertEqual(code, 0, said)
            podman.remove(daemon)

    def test_a_killed_daemon_comes_back_and_the_trainer_continues(self):
        daemon = self.start_daemon()
        trainer = podman.start("going-on", *self.trainer_arguments(), "python3", "/usr/share/echoline/train.py")
        self.await_log(trainer, "epoch", 2)
        podman("kill", "--signal", "KILL", daemon)
        podman.await_(lambda: podman.facts(daemon)["State"]["Status"] == "exited", "the daemon's end")
        seen = podman.logs(trainer).count("epoch")
        podman("start", daemon)
        self.await_log(trainer, "epoch", seen + 3)
        self.assertEqual(podman.facts(trainer)["State"]["Status"], "running")
        epochs = [int(epoch) for epoch in re.findall(r"epoch (\d+):", podman.logs(trainer))]
        self.assertEqual(epochs, list(range(len(epochs))))
        self.assertEqual(set(re.findall(r"(\d+) images,", podman.logs(trainer))), {"8000"})  # none lost, none read twice

    def test_stop_drains_within_the_time_out(self):
        daemon = self.start_daemon()
        trainer = podman.start("left-behind", *self.trainer_arguments(), "python3", "/usr/share/echoline/train.py")
        self.await_log(trainer, "epoch")
        begin = time.monotonic()
        podman("stop", "--time", PATIENCE, daemon)
        print(f"\npodman stop with a trainer attached: {time.monotonic() - begin:.1f} s")
        self.assertEqual(podman.facts(daemon)["State"]["ExitCode"], 0, podman.logs(daemon))
        self.assertIn("stopped", podman.logs(daemon))
        left = podman("run", "--rm", "--volume", f"{self.door}:/run/echoline", TRAINER, "ls", "/run/echoline")
        self.assertNotIn(".sock", left)


if __name__ == "__main__":
    unittest.main(verbosity=2)
