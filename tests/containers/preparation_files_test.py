#!/usr/bin/env python3
"""Preparation servers on Kubernetes: what the parts say of each other, and what kubectl makes of them."""
import shutil
import tempfile
import unittest

from deploy_files import DEPLOY, version
from kubernetes_files import FOLDER, check_schema, containers, documents, kustomization, named, objects, pods, rendered, yaml

NAMESPACE = kustomization("base")["namespace"]
CONFIG = documents(FOLDER / "preparation" / "echoline.yaml")[0]
SERVER = named("preparation", "Deployment")["echoline-prepare"]
HOSTS = documents(FOLDER / "preparation" / "gpu_hosts.yaml")[0]
RULES = documents(DEPLOY / "monitoring" / "preparation_rules.yml")[0]


def settings():
    """The server's --set arguments."""
    given = SERVER["spec"]["template"]["spec"]["containers"][0]["args"]
    return dict(one.removeprefix("--set=").split("=", 1) for one in given if one.startswith("--set="))


def prepare():
    return next(step["prepare"] for step in CONFIG["streams"]["train"]["pipeline"] if "prepare" in step)


def autoscalers():
    """(metric's name or query, target, behaviour, threshold) of both."""
    hpa, = objects("hpa")
    scaled, = objects("keda")
    metric = hpa["spec"]["metrics"][0]["external"]
    trigger = scaled["spec"]["triggers"][0]
    return ((metric["metric"]["name"], hpa["spec"]["scaleTargetRef"], hpa["spec"]["behavior"], metric["target"]["value"]),
            (trigger["metadata"]["query"], scaled["spec"]["scaleTargetRef"],
             scaled["spec"]["advanced"]["horizontalPodAutoscalerConfig"]["behavior"], trigger["metadata"]["threshold"]))


class Preparation(unittest.TestCase):
    def test_hosts_ask_the_service_by_the_name_in_the_servers_certificate(self):
        service = named("preparation", "Service")["echoline-prepare"]
        name = f"{service['metadata']['name']}.{NAMESPACE}.svc.cluster.local"
        port = service["spec"]["ports"][0]["port"]
        self.assertEqual(service["spec"]["clusterIP"], "None")
        self.assertEqual(prepare()["servers"], f"dns:///{name}:{port}")
        self.assertEqual(settings()["daemon.serve.listen"], f"0.0.0.0:{port}")
        ports = {one["name"]: one["containerPort"] for one in SERVER["spec"]["template"]["spec"]["containers"][0]["ports"]}
        self.assertEqual(ports["prepare"], port)
        self.assertEqual(named("certificates", "Certificate")["echoline-prepare-server"]["spec"]["dnsNames"], [name])

    def test_the_server_allows_the_name_in_the_hosts_certificate(self):
        name = named("certificates", "Certificate")["echoline-prepare-host"]["spec"]["commonName"]
        self.assertEqual(yaml.safe_load(settings()["daemon.serve.allow"]), [f"CN={name}"])

    def test_both_sides_find_their_certificates_where_these_are_mounted(self):
        issued = {one["spec"]["secretName"] for one in named("certificates", "Certificate").values()}
        server_files = [settings()[f"daemon.serve.{name}"] for name in ("certificate", "key", "client_ca")]
        host_files = [prepare()[name] for name in ("certificate", "key", "server_ca")]
        for spec, files in ((SERVER["spec"]["template"]["spec"], server_files), (HOSTS["spec"]["template"]["spec"], host_files)):
            mounted = {mount["name"]: mount["mountPath"] for mount in spec["containers"][0]["volumeMounts"]}
            self.assertEqual(files, [f"{mounted['tls']}/{name}" for name in ("tls.crt", "tls.key", "ca.crt")])
            secret = next(volume["secret"]["secretName"] for volume in spec["volumes"] if volume["name"] == "tls")
            self.assertIn(secret, issued)

    def test_both_autoscalers_follow_the_same_rule_in_the_same_way(self):
        groups, = (rule["spec"]["groups"] for rule in objects("scaling_rules"))
        self.assertEqual(groups, RULES["groups"])
        recorded = {rule["record"] for rule in groups[0]["rules"]}
        (metric, target, behaviour, value), (query, same_target, same_behaviour, threshold) = autoscalers()
        self.assertEqual((target, behaviour, value), (same_target, same_behaviour, threshold))
        self.assertEqual((target["kind"], target["name"]), (SERVER["kind"], SERVER["metadata"]["name"]))
        self.assertEqual(behaviour["scaleUp"]["stabilizationWindowSeconds"], 120)
        self.assertIn(query.partition("{")[0], recorded)
        self.assertIn(f'{{namespace="{NAMESPACE}"}}', query)
        comment = (FOLDER / "hpa" / "autoscaler.yaml").read_text(encoding="utf-8")
        self.assertIn(f"seriesQuery: '{query.partition('{')[0]}'", comment)
        self.assertIn(f"name: {{as: {metric}}}", comment)

    def test_servers_have_as_many_workers_as_processors(self):
        """The rules compare the CPU time with the number of workers."""
        self.assertEqual(settings()["daemon.workers"], "auto")
        self.assertIn("cpu", SERVER["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"])

    def test_ranks_are_on_different_hosts_and_know_their_place(self):
        _, template = pods("jobset")[0]
        job = named("jobset", "JobSet")["two-hosts"]["spec"]["replicatedJobs"][0]["template"]["spec"]
        environment = {one["name"]: one.get("value") for one in template["spec"]["containers"][0]["env"]}
        self.assertEqual((job["completionMode"], job["parallelism"]), ("Indexed", job["completions"]))
        self.assertEqual(int(environment["WORLD_SIZE"]), job["completions"] * int(environment["LOCAL_WORLD_SIZE"]))
        self.assertEqual(CONFIG["streams"]["train"]["lanes"] % job["completions"], 0)
        apart, = template["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        self.assertEqual(apart["topologyKey"], "kubernetes.io/hostname")
        self.assertLessEqual(apart["labelSelector"]["matchLabels"].items(), template["metadata"]["labels"].items())


class Rendered(unittest.TestCase):
    def check(self, made):
        for each in made:
            if each["kind"] in ("Deployment", "DaemonSet"):  # what patches change
                check_schema(each)
        found = {(each["kind"], each["metadata"]["name"]): each for each in made}
        config = next(each for each in made if each["kind"] == "ConfigMap")
        self.assertEqual(yaml.safe_load(config["data"]["echoline.yaml"]), CONFIG)
        server = found["Deployment", "echoline-prepare"]["spec"]
        self.assertNotIn("replicas", server)  # the autoscaler's
        host = found["DaemonSet", "echoline"]["spec"]["template"]["spec"]
        for spec in (server["template"]["spec"], host):
            volumes = {volume["name"]: volume for volume in spec["volumes"]}
            self.assertEqual(volumes["config"]["configMap"]["name"], config["metadata"]["name"])
            self.assertLessEqual({"config", "tls", "state"}, {mount["name"] for mount in spec["containers"][0]["volumeMounts"]})
        self.assertIn("nvidia.com/gpu.present", host["nodeSelector"])
        self.assertNotIn(("Job", "trainer"), found)
        self.assertEqual({each["metadata"].get("namespace") for each in made}, {NAMESPACE, None})
        ranks = found["JobSet", "two-hosts"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
        images = [container["image"] for spec in (server["template"]["spec"], ranks) for container in containers(spec)]
        self.assertEqual(images, [f"registry.example/{name}:{version()}" for name in ("echoline", "echoline-trainer")])

    def test_kubectl_joins_the_parts_to_a_cluster(self):
        made = rendered(FOLDER / "cluster")
        if made is None:
            self.skipTest("no kubectl")
        self.check(made)
        example = kustomization("cluster")
        with tempfile.TemporaryDirectory() as folder:
            other = shutil.copytree(FOLDER, f"{folder}/kubernetes")
            parts = [name.replace("keda", "hpa") for name in example["components"]]
            with open(f"{other}/cluster/kustomization.yaml", "w", encoding="utf-8") as file:
                yaml.safe_dump(example | {"components": parts}, file)
            self.check(rendered(f"{other}/cluster"))


if __name__ == "__main__":
    unittest.main(verbosity=1)
