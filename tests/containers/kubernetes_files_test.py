#!/usr/bin/env python3
"""The Kubernetes manifests: schemas of objects, references between them, rights of containers."""
import unittest

from deploy_files import check_stream_file, version
from kubernetes_files import FOLDER, check_schema, containers, documents, kustomization, objects, pods

DAEMON = 10001
# With pods. What the latter two refer to is in base, too.
PARTS = ("base", "sidecar", "preparation", "jobset")


def specs(part):
    """(the object's name, the pod's spec)"""
    return [(name, template["spec"]) for name, template in pods(part)]


def surroundings(part):
    """The parts that a cluster has together with this one."""
    return [part] if part in ("base", "sidecar") else ["base", "preparation", part]


class KubernetesFiles(unittest.TestCase):
    def test_every_object_fits_its_schema(self):
        checked = 0
        for path in FOLDER.glob("*/kustomization.yaml"):
            for each in objects(path.parent.name):
                with self.subTest(part=path.parent.name, object=each["kind"]):
                    check_schema(each)
                    checked += 1
        self.assertGreater(checked, 25)

    def test_wrong_objects_do_not_fit(self):
        for part, kind, change in (("base", "Namespace", {"metdata": {}}), ("keda", "ScaledObject", {"spec": {"triggers": 3}}),
                                   ("certificates", "Issuer", {"specs": {}}), ("jobset", "JobSet", {"spek": {}}),
                                   ("hpa", "HorizontalPodAutoscaler", {"spec": {"maxReplicas": 2}})):
            with self.subTest(kind), self.assertRaises(ValueError):
                check_schema(next(each for each in objects(part) if each["kind"] == kind) | change)

    def test_kustomizations_name_every_file_and_no_other(self):
        for path in FOLDER.glob("*/kustomization.yaml"):
            settings = documents(path)[0]
            named = {name for name in settings["resources"] if not name.startswith("../")}
            named |= {name for made in settings.get("configMapGenerator", []) for name in made["files"]}
            named |= {patch["path"] for patch in settings.get("patches", []) if "path" in patch}
            there = {file.name for file in path.parent.iterdir()} - {"kustomization.yaml"}
            self.assertEqual(named, there, path)

    def test_images_carry_this_version_and_are_all_replaced(self):
        for part in PARTS:
            replaced = {image["name"]: image["newTag"] for image in kustomization(part)["images"]}
            self.assertEqual(set(replaced.values()), {version()})
            for name, spec in specs(part):
                for container in containers(spec):
                    image = container["image"]
                    self.assertTrue(image in replaced or ":" in image, f"{name}: {image} has no version")

    def test_references_of_pods_exist(self):
        for part in PARTS:
            there = {(each["kind"], each["metadata"]["name"]) for near in surroundings(part) for each in objects(near)}
            made = {made["name"] for near in surroundings(part)
                    for made in kustomization(near).get("configMapGenerator", [])}
            for name, spec in specs(part):
                volumes = {volume["name"]: volume for volume in spec.get("volumes", [])}
                for container in containers(spec):
                    mounted = {mount["name"] for mount in container.get("volumeMounts", [])}
                    self.assertLessEqual(mounted, set(volumes), name)
                self.assertLessEqual({v["configMap"]["name"] for v in volumes.values() if "configMap" in v}, made)
                for kind, key in (("ServiceAccount", "serviceAccountName"), ("PriorityClass", "priorityClassName")):
                    self.assertIn((kind, spec.get(key)), there | {(kind, None)}, name)

    def test_selectors_find_their_pods(self):
        labels = [template["metadata"]["labels"] for part in PARTS for _, template in pods(part)]
        wanted = []
        for each in (each for part in (*PARTS, "podmonitor") for each in objects(part)):
            spec = each.get("spec", {})
            selector = spec.get("selector") or spec.get("podSelector") or {}
            wanted.append(selector.get("matchLabels", selector))
            wanted += [peer["podSelector"]["matchLabels"] for rule in spec.get("ingress", [])
                       for peer in rule.get("from", []) if "podSelector" in peer]
        for selector in filter(None, wanted):
            self.assertTrue(any(selector.items() <= each.items() for each in labels), selector)

    def test_nothing_runs_with_more_than_it_needs(self):
        for part in PARTS:
            for name, spec in specs(part):
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
            if part in ("sidecar", "preparation"):  # the level `restricted` of Pod Security
                for _, spec in specs(part):
                    self.assertFalse([volume for volume in spec["volumes"] if "hostPath" in volume])
                    self.assertTrue(all(c["securityContext"].get("runAsUser") != 0 for c in containers(spec)))

    def test_trainers_are_other_users_in_the_daemons_group(self):
        for part in PARTS:
            for spec in (spec for _, spec in specs(part)
                         for container in spec["containers"] if container["image"] == "echoline-trainer"):
                context = spec["securityContext"]
                self.assertNotEqual(context["runAsUser"], DAEMON)
                self.assertIn(DAEMON, [context.get("fsGroup"), *context.get("supplementalGroups", [])])

    def test_the_folders_of_a_nodes_daemon_outlive_its_pod(self):
        spec = next(spec for _, spec in specs("base") for container in spec["containers"] if container["image"] == "echoline")
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
        for part in ("base", "sidecar", "preparation"):
            self.assertIn("train", check_stream_file(FOLDER / part / "echoline.yaml"))
            config = documents(FOLDER / part / "echoline.yaml")[0]
            budget = int(config["daemon"]["memory"].removesuffix("GiB")) * 1024
            limits = [container["resources"]["limits"]["memory"] for _, spec in specs(part)
                      for container in containers(spec) if container["image"] == "echoline"]
            for limit in limits:
                number, unit = int(limit[:-2]), {"Gi": 1024, "Mi": 1}[limit[-2:]]
                self.assertGreaterEqual(number * unit, budget + 512)

    def test_the_fleet_names_all_pods_of_the_stateful_set(self):
        cache = next(each for each in objects("base") if each["kind"] == "StatefulSet")
        name, service = cache["metadata"]["name"], cache["spec"]["serviceName"]
        expected = [f"{name}-{number}.{service}.{kustomization('base')['namespace']}.svc.cluster.local:11211"
                    for number in range(cache["spec"]["replicas"])]
        for part in ("base", "preparation"):
            pipeline = documents(FOLDER / part / "echoline.yaml")[0]["streams"]["train"]["pipeline"]
            self.assertEqual(next(step["cache"]["fleet"] for step in pipeline if "cache" in step), expected)
        self.assertIn("-M", cache["spec"]["template"]["spec"]["containers"][0]["args"])


if __name__ == "__main__":
    unittest.main(verbosity=1)
