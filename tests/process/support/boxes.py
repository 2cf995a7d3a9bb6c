"""Pictures with boxes in the form of Pascal VOC: the blood cells where ECHOLINE_TEST_DATA has them, else made ones."""
import io
import os
import pathlib
import tarfile
import xml.etree.ElementTree as ElementTree

from support.photos import Image, jpeg, numpy, picture

CLASSES = ["RBC", "WBC", "Platelets"]


def made_xml(seed, width, height):
    random = numpy.random.default_rng(seed)
    objects = ""
    for _ in range(random.integers(0, 6)):
        left, top = random.integers(0, width - 9), random.integers(0, height - 9)
        right, bottom = random.integers(left, width + 1), random.integers(top, height + 1)
        objects += (f"<object><name>{CLASSES[random.integers(3)]}</name><difficult>{random.integers(2)}</difficult>"
                    f"<bndbox><xmin>{left}</xmin><ymin>{top}</ymin><xmax>{right}</xmax><ymax>{bottom}</ymax></bndbox>"
                    "</object>")
    return f"<annotation>{objects}</annotation>".encode()


def records(count=None):
    """(bytes of a JPEG, bytes of its XML) of each record, in order; of the blood cells at most `count`."""
    archive = pathlib.Path(os.environ.get("ECHOLINE_TEST_DATA", "/nonexistent"), "bccd-voc.tar.xz")
    if not archive.exists():
        return [(jpeg(picture(seed, 160, 120)), made_xml(seed, 160, 120)) for seed in range(40)]
    files = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            path = pathlib.PurePath(member.name)
            if path.suffix in (".jpg", ".xml"):
                files.setdefault(path.stem, {})[path.suffix] = tar.extractfile(member).read()
    return [(files[stem][".jpg"], files[stem][".xml"]) for stem in sorted(files)][:count]


def parsed(xml):
    """float32 [n, 4], int64 [n] and uint8 [n]: boxes, labels and difficult, with Python's own parser."""
    objects = ElementTree.fromstring(xml).findall("object")
    boxes = [[float(found.find(f"bndbox/{corner}").text) for corner in ("xmin", "ymin", "xmax", "ymax")]
             for found in objects]
    return (numpy.array(boxes, numpy.float32).reshape(-1, 4),
            numpy.array([CLASSES.index(found.find("name").text) for found in objects], numpy.int64),
            numpy.array([int(found.findtext("difficult", "0")) for found in objects], numpy.uint8))


def files(all_records):
    """(name, bytes) of the members of a tar."""
    for number, (jpg, xml) in enumerate(all_records):
        yield from ((f"cell{number:05}.jpg", jpg), (f"cell{number:05}.xml", xml))


def write_voc_folder(folder, all_records):
    for name, content in files(all_records):
        kind = "JPEGImages" if name.endswith(".jpg") else "Annotations"
        (folder / kind).mkdir(parents=True, exist_ok=True)
        (folder / kind / name).write_bytes(content)


def pixels(jpg):
    return numpy.asarray(Image.open(io.BytesIO(jpg)).convert("RGB")).astype(int)
