"""Runs pipeline_dump and makes the pictures that it is compared on."""
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

try:
    import numpy
    from PIL import Image
except ImportError as missing:
    print(f"skipped: {missing}; python3-numpy and python3-pil are needed", flush=True)
    sys.exit(77)  # ctest's SKIP_RETURN_CODE

TOOL = os.environ.get("PIPELINE_DUMP", "pipeline_dump")


def run(steps, paths, field="image", epoch=0, use=0, seed=7):
    """The field's array of each record, or the error's text. A record is a file, or a tuple of files."""
    return [made if isinstance(made, str) else made[field] for made in run_all(steps, paths, epoch, use, seed)]


def run_all(steps, records, epoch=0, use=0, seed=7):
    """The arrays of each record by field, or the error's text."""
    lines = ["\t".join(map(str, record if isinstance(record, tuple) else (record,))) for record in records]
    with tempfile.TemporaryDirectory() as folder:
        stream = pathlib.Path(folder, "stream.textproto")
        stream.write_text(f"seed: {seed}\n" + "\n".join(f"pipeline {{ {step} }}" for step in steps))
        done = subprocess.run([TOOL, str(stream), folder, str(epoch), str(use)], text=True,
                              input="\n".join(lines) + "\n", stdout=subprocess.PIPE)
        if done.returncode != 0:
            raise RuntimeError(f"pipeline_dump ended with {done.returncode}")
        verdicts = done.stdout.splitlines()
        assert len(verdicts) == len(records)
        return [{path.stem.split("_", 1)[1]: numpy.load(path) for path in pathlib.Path(folder).glob(f"{i}_*.npy")}
                if verdict == "ok" else verdict for i, verdict in enumerate(verdicts)]


def decode(as_="rgb", **more):
    extra = " ".join(f"{key}: {value}" for key, value in more.items())
    return f'decode {{ fields {{ key: "image" value {{ key: "jpg;png" as: "{as_}" {extra} }} }} }}'


def drawing(width, height, seed=0):
    """A picture with slopes, edges and noise, of any size."""
    random = numpy.random.default_rng(seed)
    y, x = numpy.mgrid[0:height, 0:width].astype(float)
    pixels = numpy.stack([255 * x / max(width - 1, 1), 255 * y / max(height - 1, 1),
                          127 + 127 * numpy.sin(x / 3.1 + y / 5.3)], axis=2)
    for _ in range(12):
        top, left = random.integers(0, height), random.integers(0, width)
        pixels[top:top + height // 4 + 1, left:left + width // 4 + 1] = random.integers(0, 256, 3)
    pixels += random.normal(0, 12, pixels.shape)
    return Image.fromarray(numpy.clip(pixels, 0, 255).astype(numpy.uint8), "RGB")


def photos(folder, count):
    """Real photos where ECHOLINE_TEST_DATA has them, drawings else; as files in `folder`."""
    data = os.environ.get("ECHOLINE_TEST_DATA")
    paths = []
    for shard in sorted(pathlib.Path(data).glob("imagenet/*.tar")) if data else []:
        with tarfile.open(shard) as tar:
            for member in tar:
                if member.name.endswith(".jpg") and len(paths) < count:
                    paths.append(pathlib.Path(folder, f"photo{len(paths)}.jpg"))
                    paths[-1].write_bytes(tar.extractfile(member).read())
    sizes = [(500, 375), (375, 500), (333, 251), (64, 48), (801, 603), (97, 201)]
    for i in range(len(paths), min(count, 12)):
        paths.append(pathlib.Path(folder, f"photo{i}.jpg"))
        drawing(*sizes[i % len(sizes)], seed=i).save(paths[-1], quality=90)
    return paths


def difference(ours, theirs):
    """Largest difference of two arrays of the same shape; an error text or another shape is infinite."""
    theirs = numpy.asarray(theirs)
    if isinstance(ours, str):
        print(ours)
        return float("inf")
    if theirs.ndim == 2 and ours.ndim == 3:
        theirs = theirs[:, :, None]
    if ours.shape != theirs.shape:
        print(f"shapes {ours.shape} and {theirs.shape}")
        return float("inf")
    return float(numpy.abs(ours.astype(float) - theirs.astype(float)).max())
