"""The objects of deploy/kubernetes, and the schemas that they must fit."""
import pathlib
import shutil
import subprocess

from deploy_files import DEPLOY, module

yaml = module("yaml")
kubernetes_validate = module("kubernetes_validate")

FOLDER = DEPLOY / "kubernetes"
OLDEST, NEWEST = "1.29", "1.35"  # 1.29 is the first release with sidecars
# Objects of other projects, by the models that are generated from their definitions.
MODELS = {
    "JobSet": ("kubeflow_trainer_api.models.jobset_v1alpha2_job_set", "JobsetV1alpha2JobSet"),
    "ScaledObject": ("cloudcoil.models.keda.v1alpha1", "ScaledObject"),
    "Certificate": ("cloudcoil.models.cert_manager.v1", "Certificate"),
    "Issuer": ("cloudcoil.models.cert_manager.v1", "Issuer"),
}
# Objects of the Prometheus operator, by hand: its models take three times as long to load as all others. promtool checks
# the content of a PrometheusRule (tests/monitoring).
OPERATORS_KEYS = {"PodMonitor": {"selector", "podMetricsEndpoints"}, "PrometheusRule": {"groups"}}


def documents(path):
    return [document for document in yaml.safe_load_all(pathlib.Path(path).read_text(encoding="utf-8")) if document]


def kustomization(part):
    return documents(FOLDER / part / "kustomization.yaml")[0]


def objects(part):
    """Those that the part adds, not those that it changes."""
    return [each for name in kustomization(part)["resources"] if name.endswith(".yaml")
            for each in documents(FOLDER / part / name)]


def named(part, kind):
    """{name: object}"""
    return {each["metadata"]["name"]: each for each in objects(part) if each["kind"] == kind}


def pods(part):
    """(the object's name, the template of its pods) of all objects with pods."""
    found = []
    for each in objects(part):
        spec = each.get("spec", {})
        for job in spec.get("replicatedJobs", []):
            found.append((each["metadata"]["name"], job["template"]["spec"]["template"]))
        if "template" in spec:
            found.append((each["metadata"]["name"], spec["template"]))
    return found


def containers(spec):
    return spec.get("initContainers", []) + spec["containers"]


def rendered(folder):
    """The objects that kubectl would apply; None without a kubectl that knows components."""
    program = shutil.which("kubectl")
    done = program and subprocess.run([program, "kustomize", str(folder)], capture_output=True, text=True, check=False)
    if not done or "unknown command" in done.stderr:
        return None
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return list(yaml.safe_load_all(done.stdout))


def _unknown(given, known, path=""):
    """Paths of keys that a model has dropped."""
    if isinstance(given, dict):
        return [found for key, value in given.items()
                for found in ([f"{path}/{key}"] if key not in (known or {}) else _unknown(value, known[key], f"{path}/{key}"))]
    if isinstance(given, list):
        return [found for index, value in enumerate(given) for found in _unknown(value, known[index], f"{path}/{index}")]
    return []


def _without_quantities(value):
    """The models of JobSet know no texts such as 512Mi; the schema of Job, which checks the same pods, does."""
    if isinstance(value, list):
        return [_without_quantities(one) for one in value]
    if isinstance(value, dict):
        return {key: _without_quantities(one) for key, one in value.items() if key != "resources"}
    return value


def check_schema(given):
    """Raises ValueError if an object does not fit its schema."""
    if given["kind"] in OPERATORS_KEYS:
        if given["apiVersion"] != "monitoring.coreos.com/v1" or set(given["spec"]) != OPERATORS_KEYS[given["kind"]]:
            raise ValueError(f"{given['kind']}: not as expected")
        return
    if given["kind"] in MODELS:
        for job in given["spec"].get("replicatedJobs", []):
            check_schema({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": job["name"]},
                          "spec": job["template"]["spec"]})
        name, model = MODELS[given["kind"]]
        given = _without_quantities(given) if given["kind"] == "JobSet" else given
        known = getattr(module(name), model).model_validate(given)
        unknown = _unknown(given, known.model_dump(mode="json", by_alias=True, exclude_unset=True))
        if unknown:
            raise ValueError(f"{given['kind']}: no such keys: {', '.join(unknown)}")
        return
    for release in (OLDEST, NEWEST):
        try:
            kubernetes_validate.validate(given, release, strict=True)
        except kubernetes_validate.ValidationError as error:
            raise ValueError(f"{given['kind']}, Kubernetes {release}: {error}") from error
