#!/usr/bin/env python3
"""The decode path needs no more instructions than limits.json allows: those of pipeline_dump for a photo, relative to those
of libjpeg-turbo for decoding the whole photo, both counted by callgrind in this run. Compiler and library versions change
both sides, so the ratio changes little. Valgrind knows AVX2 but not AVX-512: that is the code measured.

A higher ratio is a regression, or has a reason: then write the new limits with ECHOLINE_UPDATE_COSTS=1, and say in the
change what they buy. A much lower one is a gain that the test does not protect until the limits are written."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77
LIMITS = pathlib.Path(__file__).with_name("limits.json")
TOLERANCE = 0.04
PHOTOS, WIDTH, HEIGHT = 4, 500, 375  # as ImageNet's
TIMES = 5
DECODE = "pipeline { read { url: 'x' } } pipeline { decode { fields { key: 'image' value { key: 'jpg' as: 'rgb' } } } } "
# The steps after decoding, by name.
CASES = {
    "random_resized_crop": "pipeline { random_resized_crop { field: 'image' size: 224 } } "
                           "pipeline { horizontal_flip { field: 'image' } }",
    "resize": "pipeline { resize { field: 'image' size: [224, 224] } }",
}


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def made_photos(folder):
    """The paths of photos with slopes, edges and noise."""
    paths = [pathlib.Path(folder, f"{seed}.jpg") for seed in range(PHOTOS)]
    for seed, path in enumerate(paths):
        path.write_bytes(photos.jpeg(photos.picture(seed, WIDTH, HEIGHT)))
    return paths


def instructions(command, paths):
    """Instructions of the command for a photo: those for the list several times less those for the list once, so that the
    start of the process does not count. The start differs from run to run, so its difference is spread over many photos."""
    counts = []
    for times in (1, TIMES):
        done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *map(str, command)],
                              input="".join(f"{path}\n" for path in paths) * times, capture_output=True, text=True, check=True)
        if set(done.stdout.split()) - {"ok"}:
            raise RuntimeError(f"{command[0]}: {done.stdout}")
        counts.append(int(re.search(r"Collected : (\d+)", done.stderr)[1]))
    return (counts[1] - counts[0]) / ((TIMES - 1) * len(paths))


class DecodeCost(unittest.TestCase):
    def test_a_photo_needs_no_more_instructions_than_the_limits_allow(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = made_photos(folder)
            whole = instructions([os.environ["LIBJPEG_WHOLE"]], paths)
            ratios = {}
            for name, steps in CASES.items():
                stream = pathlib.Path(folder, f"{name}.textproto")
                stream.write_text(DECODE + steps, encoding="utf-8")
                ratios[name] = round(instructions([os.environ["PIPELINE_DUMP"], stream, folder], paths) / whole, 3)
        print(f"libjpeg-turbo: {whole:,.0f} instructions for a photo; relative to it: {ratios}")
        if os.environ.get("ECHOLINE_UPDATE_COSTS"):
            LIMITS.write_text(json.dumps(ratios, indent=1) + "\n", encoding="utf-8")
        limits = json.loads(LIMITS.read_text(encoding="utf-8"))
        self.assertEqual(set(limits), set(ratios))
        for name, ratio in ratios.items():
            self.assertLess(ratio, limits[name] * (1 + TOLERANCE), f"{name}: {ratio} of libjpeg-turbo's instructions, "
                            f"the limit is {limits[name]} and {TOLERANCE * 100:.0f} %; see the top of {__file__}")


if __name__ == "__main__":
    if not shutil.which("valgrind"):
        skip("valgrind is missing")
    if " avx2 " not in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").replace("\n", " "):
        skip("this processor has no AVX2, for which the limits are")
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "process"))
    from support import photos

    unittest.main()
