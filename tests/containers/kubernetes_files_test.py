#!/usr/bin/env python3
"""The Kubernetes manifests: schemas of objects, references between them, rights of containers."""
import unittest

from deploy_files import DEPLOY, check_stream_file, module, version

yaml = module("yaml")
kubernetes_validate = module("kubernetes_validate")

FOLDER = DEPLOY / "kubernetes"
OLDEST, NEWEST = "1.29", "1.35"  # 1.29 is the first release with sidecars
OTHER_PROJECTS_KINDS = {"PodMonitor"}  # not an object of Kubernetes itself: it has no schema here
DAEMON, OPERATORS = 10001, ("base", "sidecar")


def documents(path):
    return [document for document in yaml.safe_load_all(path.read_text(encoding="utf-8")) if document]


def objects(part):
    kustomization = documents(FOLDER / part / "kustomization.yaml")[0]
    return [each for name in kustomization["resources"] for each in documents(FOLDER / part / name)]


def pods(part):
    """(the object's name, the pod's spec) of all objects with pods."""
    return [(each["metadata"]["name"], each["spec"]["template"]["spec"]) for each in objects(part)
            if "template" in each.get("spec", {})]


def containers(spec):
    return spec.get("initContainers", []) + spec["containers"]


class KubernetesFiles(unittest.TestCase):
    def test_every_object_fits_its_schema(self):
        checked = 0
        for path in FOLDER.glob("*/*.yaml"):
            for each in documents(path):
                if path.name in ("kustomization.yaml", "echoline.yaml") or each["kind"] in OTHER_PROJECTS_KINDS:
                    continue
                for release in (OLDEST, NEWEST):
                    with self.subTest(path=path.name, object=each["kind"], release=release):
                        kubernetes_validate.validate(each, release, strict=True)
                        checked += 1
        self.assertGreater(checked, 20)

    def test_a_wrong_object_does_not_fit(self):
        wrong = objects("base")[0] | {"metdata": {}}
        with self.assertRaises(kubernetes_validate.ValidationError):
            kubernetes_validate.validate(wrong, NEWEST, strict=True)

    def test_kustomizations_name_every_file_and_no_other(self):
        for path in FOLDER.glob("*/kustomization.yaml"):
            kustomization = documents(path)[0]
            named = set(kustomization["resources"])
            named |= {name for made in kustomization.get("configMapGenerator", []) for name in made["files"]}
            there = {file.name for file in path.parent.iterdir()} - {"kustomization.yaml"}
            self.assertEqual(named, there, path)

    def test_images_carry_this_version_and_are_all_replaced(self):
        for part in OPERATORS:
            kustomization = documents(FOLDER / part / "kustomization.yaml")[0]
            replaced = {image["name"]: image["newTag"] for image in kustomization["images"]}
            self.assertEqual(set(replaced.values()), {version()})
            for name, spec in pods(part):
                for container in containers(spec):
                    image = container["image"]
                    self.assertTrue(image in replaced or ":" in image, f"{name}: {image} has no version")

    def test_references_of_pods_exist(self):
        for part in OPERATORS:
            kustomization = documents(FOLDER / part / "kustomization.yaml")[0]
            there = {(each["kind"], each["metadata"]["name"]) for each in objects(part)}
            made = {made["name"] for made in kustomization["configMapGenerator"]}
            for name, spec in pods(part):
                volumes = {volume["name"]: volume for volume in spec.get("volumes", [])}
                for container in containers(spec):
                    mounted = {mount["name"] for mount in container.get("volumeMounts", [])}
                    self.assertLessEqual(mounted, set(volumes), name)
                self.assertLessEqual({v["configMap"]["name"] for v in volumes.values() if "configMap" in v}, made)
                for kind, key in (("ServiceAccount", "serviceAccountName"), ("PriorityClass", "priorityClassName")):
                    self.assertIn((kind, spec.get(key)), there | {(kind, None)}, name)

    def test_selectors_find_their_pods(self):
        labels = [each["spec"]["template"]["metadata"]["labels"] for each in objects("base")
                  if "template" in each.get("spec", {})]
        wanted = []
        for each in objects("base") + documents(FOLDER / "podmonitor" / "pod_monitor.yaml"):
            spec = each.get("spec", {})
            selector = spec.get("selector") or spec.get("podSelector") or {}
            wanted.append(selector.get("matchLabels", selector))
            wanted += [peer["podSelector"]["matchLabels"] for rule in spec.get("ingress", [])
                       for peer in rule.get("from", []) if "podSelector" in peer]
        for selector in filter(None, wanted):
            self.assertTrue(any(selector.items() <= each.items() for each in labels), selector)

    def test_nothing_runs_with_more_than_it_needs(self):
        for part in OPERATORS:
            for name, spec in pods(part):
                self.assertFalse(spec["automountServiceAccountToken"], name)
                self.assertEqual(spec["securityContext"]["seccompProfile"]["type"], "RuntimeDefault", name)
                self.assertTrue(spec["securityContext"]["runAsNonRoot"], name)
                for container in containers(spec):
                    rights, limits = container["securityContext"], container["resources"]["limits"]
                    self.assertFalse(rights["allowPrivilegeEscalation"], name)
                    self.assertTrue(rights["readOnlyRootFilesystem"], name)
                    self.assertEqual(rights["capabilities"]["drop"], ["ALL"], name)
                    self.assertIn("memory", limits, name)
                    if rights.get("runAsUser") == 0:
                        self.assertEqual(rights["capabilities"]["add"], ["CHOWN"], name)
            if part == "sidecar":  # the level `restricted` of Pod Security
                for _, spec in pods(part):
                    self.assertFalse([volume for volume in spec["volumes"] if "hostPath" in volume])
                    self.assertTrue(all(c["securityContext"].get("runAsUser") != 0 for c in containers(spec)))

    def test_trainers_are_other_users_in_the_daemons_group(self):
        for part in OPERATORS:
            for spec in (spec for _, spec in pods(part)
                         for container in spec["containers"] if container["image"] == "echoline-trainer"):
                context = spec["securityContext"]
                self.assertNotEqual(context["runAsUser"], DAEMON)
                self.assertIn(DAEMON, [context.get("fsGroup"), *context.get("supplementalGroups", [])])

    def test_the_folders_of_a_nodes_daemon_outlive_its_pod(self):
        spec = next(spec for _, spec in pods("base") for container in spec["containers"] if container["image"] == "echoline")
        volumes = {volume["name"]: volume for volume in spec["volumes"]}
        daemon, = spec["containers"]
        kept = {mount["mountPath"] for mount in daemon["volumeMounts"] if "hostPath" in volumes[mount["name"]]}
        self.assertEqual(kept, {"/run/echoline", "/var/lib/echoline"})
        # The kubelet makes the folders for root; the init container gives them to the daemon's user.
        folders, = spec["initContainers"]
        self.assertEqual(folders["command"][:2], ["chown", f"{DAEMON}:{DAEMON}"])
        self.assertEqual(set(folders["command"][2:]), kept)
        self.assertEqual({mount["mountPath"] for mount in folders["volumeMounts"]}, kept)

    def test_streams_are_valid_and_fit_their_container(self):
        for part in OPERATORS:
            self.assertIn("train", check_stream_file(FOLDER / part / "echoline.yaml"))
            config = documents(FOLDER / part / "echoline.yaml")[0]
            budget = int(config["daemon"]["memory"].removesuffix("GiB")) * 1024
            limits = [container["resources"]["limits"]["memory"] for _, spec in pods(part)
                      for container in containers(spec) if container["image"] == "echoline"]
            for limit in limits:
                number, unit = int(limit[:-2]), {"Gi": 1024, "Mi": 1}[limit[-2:]]
                self.assertGreaterEqual(number * unit, budget + 512)

    def test_the_fleet_names_all_pods_of_the_stateful_set(self):
        config = documents(FOLDER / "base" / "echoline.yaml")[0]
        fleet = next(step["cache"]["fleet"] for step in config["streams"]["train"]["pipeline"] if "cache" in step)
        cache = next(each for each in objects("base") if each["kind"] == "StatefulSet")
        namespace = documents(FOLDER / "base" / "kustomization.yaml")[0]["namespace"]
        name, service = cache["metadata"]["name"], cache["spec"]["serviceName"]
        self.assertEqual(fleet, [f"{name}-{number}.{service}.{namespace}.svc.cluster.local:11211"
                                 for number in range(cache["spec"]["replicas"])])
        self.assertIn("-M", cache["spec"]["template"]["spec"]["containers"][0]["args"])


if __name__ == "__main__":
    unittest.main(verbosity=1)
