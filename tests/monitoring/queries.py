"""The queries of the dashboard and the rules of deploy/monitoring, and all metrics."""
import json
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MONITORING = ROOT / "deploy" / "monitoring"
RULES = [MONITORING / "recording_rules.yml", MONITORING / "alert_rules.yml"]
# For clusters with preparation servers only.
PREPARATION_RULES = MONITORING / "preparation_rules.yml"
# What Prometheus stores of a histogram.
PARTS_OF_HISTOGRAM = ("_bucket", "_sum", "_count")


def program(name):
    """The path of a program that the test needs; skips the test without it."""
    path = shutil.which(name)
    if path is None:
        print(f"skipped: no program {name}", flush=True)
        sys.exit(77)
    return path


def dashboard():
    return json.loads((MONITORING / "dashboard.json").read_text(encoding="utf-8"))


def all_panels():
    """Rows and panels. A collapsed row contains its panels."""
    return [found for panel in dashboard()["panels"] for found in (panel, *panel.get("panels", []))]


def panels():
    """The panels that show data, also those in collapsed rows."""
    return [panel for panel in all_panels() if panel["type"] != "row"]


def expressions(interval="1m"):
    """{(title of the panel, letter of the query): PromQL}, for all jobs, instances and streams."""
    return {(panel["title"], target["refId"]): re.sub(r"\$__rate_interval", interval,
                                                      re.sub(r"\$(job|instance|stream)\b", ".+", target["expr"]))
            for panel in panels() for target in panel["targets"]}


def metrics():
    """{name: kind} of docs/metrics.md; another test compares this page with the code."""
    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\| `(\w+)` \| (\w+) \|", page, re.MULTILINE))


def metric_of(name):
    """The metric of a series: series of a histogram have suffixes."""
    known = metrics()
    for part in PARTS_OF_HISTOGRAM:
        if name.endswith(part) and known.get(name.removesuffix(part)) == "histogram":
            return name.removesuffix(part)
    return name


def selectors(expression):
    """All selections of series in the expression, as 'name{labels}'."""
    return re.findall(r"\b(?:[a-z_]+:)?(?:echoline|process)_\w+(?::\w+)?(?:\{[^}]*\})?|\bup\b", expression)


def names(expression):
    """The metrics that the expression reads, without recorded series."""
    found = {selector.partition("{")[0] for selector in selectors(expression)}
    return {metric_of(name) for name in found if ":" not in name and name != "up"}
