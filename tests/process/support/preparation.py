"""Preparation servers and the hosts that read from them, as processes with real certificates."""
from support.certificates import Authority
from support.daemon_process import Daemon, stream_yaml
from support.programs import free_port

BATCH = 8


def steps(url, prepare="", cache="", before=(), after_prepare="", more=(), window=40, first=""):
    """The pipeline of the tests: photos, cropped and mirrored at random. `first`: instead of the step `read`."""
    return [first or f"read: {{url: '{url}', read_ahead: 4MiB}}", cache and f"cache: {cache}", f"shuffle: {{window: {window}}}",
            "decode: {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}", *before,
            prepare and f"prepare: {prepare}", after_prepare and f"cache: {after_prepare}", *more, "random_resized_crop: {field: image, size: 32}",
            "horizontal_flip: {field: image}", f"batch: {{size: {BATCH}}}", "publish: {slots: 4}"]


def _name(port):
    """An element of `prepare.servers`: of a port of this machine, in one of two ways, or of ADDRESS:PORT."""
    if isinstance(port, str):
        return f"'{port}'"
    return f"'dns:///localhost:{port}'" if port % 2 else f"127.0.0.1:{port}"


class Cluster:
    """An authority, and the configurations of servers and hosts of one stream in its folder."""

    def __init__(self, folder, url, addresses=()):
        """`addresses`: where servers are, in addition to this machine."""
        self.folder, self.url = folder, url
        self.ca = Authority(folder)
        names = ",".join(["DNS:localhost", "IP:127.0.0.1", *(f"IP:{address}" for address in addresses)])
        self.server_pair, self.host_pair = self.ca.issue("server", names), self.ca.issue("host")

    def prepare(self, ports, fallback="wait", pair=None, ca=None, more=""):
        pair = pair or self.host_pair
        servers = ", ".join(_name(port) for port in ports)
        return (f"{{servers: [{servers}], fallback: {fallback}, certificate: {pair.certificate}, key: {pair.key}, "
                f"server_ca: {ca or self.ca.file}{more}}}")

    def stream(self, prepare="", **more):
        return stream_yaml(steps(self.url, prepare, **more), more="    bad_records: {limit: 10%}\n")

    def serve(self, port, allow="CN=host", memory="64MiB", address="127.0.0.1"):
        return (f"serve: {{listen: '{address}:{port}', certificate: {self.server_pair.certificate}, "
                f"key: {self.server_pair.key}, client_ca: {self.ca.file}, allow: ['{allow}'], memory: {memory}}}")


class PreparationServer(Daemon):
    """One that prepares the cluster's stream."""

    def __init__(self, cluster, streams=None, workers=1, **serve):
        self.port = free_port()
        super().__init__(streams or cluster.stream(cluster.prepare([1])), workers=workers, metrics=True)
        text = self.config.read_text(encoding="utf-8")
        self.config.write_text(text.replace("daemon: {", "daemon: {" + cluster.serve(self.port, **serve) + ", ", 1),
                               encoding="utf-8")
