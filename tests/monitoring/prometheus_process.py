"""A Prometheus process with rules of deploy/monitoring, which scrapes its targets every two seconds."""
import contextlib
import json
import pathlib
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import queries
from support.programs import PATIENCE, end_with_parent, free_port

JOB = "a job of any name"


class Prometheus:
    def __init__(self, *targets, rules=queries.RULES):
        self.port = free_port()
        self.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self.folder.name)
        files = json.dumps([str(path) for path in rules])
        (folder / "prometheus.yml").write_text(
            "global: {scrape_interval: 2s, scrape_timeout: 2s, evaluation_interval: 1s}\n"
            f"rule_files: {files}\n"
            f"scrape_configs: [{{job_name: '{JOB}', static_configs: [{{targets: {json.dumps(targets)}}}]}}]\n", encoding="utf-8")
        with open(folder / "log", "wb") as log:
            self.process = subprocess.Popen(
                [queries.program("prometheus"), f"--config.file={folder}/prometheus.yml",
                 f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{self.port}"],
                stdout=log, stderr=log, preexec_fn=end_with_parent)

    def ask(self, path, **parameters):
        """The data of an answer; RuntimeError with Prometheus' message if it refuses."""
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            if error.code == 503:  # it is still starting
                raise
            raise RuntimeError(f"{url}: {error.read().decode()}") from None

    def query(self, expression):
        """[(labels of a series, its current value)] of an expression."""
        return [(one["metric"], float(one["value"][1])) for one in self.ask("query", query=expression)["result"]]

    def await_data(self, expression):
        """query(), once it has values."""
        return self.await_true(expression, lambda: self.query(expression))

    def await_true(self, what, condition):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(pathlib.Path(self.folder.name, "log").read_text(encoding="utf-8"))
            with contextlib.suppress(urllib.error.URLError, ConnectionError):
                found = condition()
                if found:
                    return found
            time.sleep(0.2)
        raise RuntimeError(f"not in {PATIENCE} s: {what}")

    def alerts(self):
        """{name: state}"""
        return {one["labels"]["alertname"]: one["state"] for one in self.ask("alerts")["alerts"]}

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()
