#!/usr/bin/env python3
"""The compose file: its schema, its references, the rights of its services; the Dockerfile's version."""
import re
import subprocess
import sys
import unittest

from deploy_files import DEPLOY, ROOT, check_stream_file, module, version

yaml = module("yaml")
module("check_jsonschema")

FILE = DEPLOY / "compose" / "compose.yaml"
COMPOSE = yaml.safe_load(FILE.read_text(encoding="utf-8"))
SERVICES = COMPOSE["services"]


class ComposeFiles(unittest.TestCase):
    def validate(self, text):
        return subprocess.run([sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec",
                               "--force-filetype", "yaml", "-"],
                              input=text, capture_output=True, text=True, check=False)

    def test_the_file_fits_the_specification(self):
        done = self.validate(FILE.read_text(encoding="utf-8"))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(self.validate("services: {daemon: {imagee: x}}").returncode, 1)

    def test_mounted_files_exist(self):
        for name, service in SERVICES.items():
            for volume in service.get("volumes", []):
                source = volume.split(":")[0]
                if source.startswith("."):
                    self.assertTrue((FILE.parent / source).exists(), f"{name}: {source}")
                else:
                    self.assertIn(source, COMPOSE["volumes"], name)
            if "build" in service:
                self.assertEqual((FILE.parent / service["build"]["context"]).resolve(), ROOT)

    def test_services_wait_only_for_services_with_a_health_check_or_an_end(self):
        for name, service in SERVICES.items():
            for other, how in service.get("depends_on", {}).items():
                if how["condition"] == "service_healthy":  # the daemon's check is in its image
                    self.assertTrue(other == "daemon" or "healthcheck" in SERVICES[other], f"{name}: {other}")
                else:
                    self.assertNotIn("restart", SERVICES[other], f"{name}: {other} never ends")

    def test_nothing_runs_with_more_than_it_needs(self):
        for name, service in SERVICES.items():
            self.assertTrue(service["read_only"], name)
            self.assertEqual(service["cap_drop"], ["ALL"], name)
            self.assertEqual(service["security_opt"], ["no-new-privileges:true"], name)
            self.assertFalse({"privileged", "ipc", "pid", "cap_add"} & set(service), name)
            self.assertFalse(str(service.get("user", "10001")).startswith("0"), name)
            self.assertTrue(all(port.startswith("127.0.0.1:") for port in service.get("ports", [])), name)

    def test_images_have_versions_and_our_image_has_the_current_one(self):
        for name, service in SERVICES.items():
            tag = service["image"].rpartition(":")[2]
            self.assertRegex(tag, r"^v?\d+\.\d+", name)
            if "build" in service:
                self.assertEqual(tag, version(), name)
        dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
        self.assertEqual(set(re.findall(r"^ARG VERSION=(.*)$", dockerfile, re.MULTILINE)), {version()})

    def test_the_stream_is_valid(self):
        self.assertIn("train", check_stream_file(FILE.parent / "echoline.yaml"))


if __name__ == "__main__":
    unittest.main(verbosity=1)
