"""Pictures with boxes for each CPU-second: decode, photometric distortion, a crop by IoU, resize to 300, flip, with one
worker, compared with torchvision.transforms.v2 in a DataLoader. CPU is all of the daemon's, without its start, or the
process of the DataLoader after its first batch."""
import functools
import json
import os
import pathlib
import subprocess
import tempfile

from suite import peers
from suite.rounds import PATIENCE, Table, interleave
from support import boxes
from support.daemon_process import Daemon, stream_yaml
from support.tars import write_tar

from decode import rate

PROGRAMS = ()
LOOPS = pathlib.Path(__file__).with_name("detection_loops.py")
EPOCHS = 2


def stream(path):
    classes = ", ".join(boxes.CLASSES)
    return stream_yaml([f"read: {{url: '{path}'}}", "shuffle: {window: all}",
                        f"decode: {{image: {{key: jpg, as: rgb}}, boxes: {{key: xml, as: voc_boxes}}, "
                        f"labels: {{key: xml, as: voc_labels, classes: [{classes}]}}}}",
                        "photometric_distort: {field: image}", "random_iou_crop: {field: image}",
                        "resize: {field: image, size: [300, 300]}", "horizontal_flip: {field: image}",
                        "sanitize_boxes: {field: boxes}", "batch: {size: 28}", "publish: {slots: 4}"])


def measure_daemon(program, path):
    os.environ["ECHOLINED"] = str(program)
    with Daemon(stream(path), workers=1, memory="1GiB") as daemon:
        return rate(daemon, EPOCHS)


def measure_torchvision(kind, path):
    done = subprocess.run([peers.python("torchvision_v2"), "-B", LOOPS, kind, path, str(EPOCHS)], capture_output=True,
                          check=True, timeout=PATIENCE)
    report = json.loads(done.stdout.splitlines()[-1])
    return report["pictures"] / report["cpu_seconds"]


def measure(options):
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder, "boxes.tar"))
        write_tar(path, boxes.files(boxes.records()))
        ways = {"Echoline": functools.partial(measure_daemon, options.daemon, path)}
        release = peers.version("torchvision_v2", "torchvision")
        for kind in ("pillow", "tensor"):
            ways[f"torchvision {release}, {kind}"] = functools.partial(measure_torchvision, kind, path)
        ways = {name: way for name, way in ways.items() if name == "Echoline" or options.wants(name)}
        found = interleave(ways, options.rounds)
        return [Table("Pictures with boxes", "pictures per CPU-second", [found.row(name) for name in ways], ("Echoline",))]
