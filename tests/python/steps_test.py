"""echoline.steps: its functions make what a configuration has, and mypy knows their types and those of the loaders."""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from echoline import steps
from echoline._configuration import configuration_text

HERE = pathlib.Path(__file__).resolve().parent


def mypy():
    """The command; None if it is not installed."""
    own = HERE.parents[1] / "build" / "venv" / "bin" / "mypy"
    return os.fspath(own) if own.exists() else shutil.which("mypy")


class Steps(unittest.TestCase):
    def test_they_are_the_steps_of_a_configuration_with_what_is_given(self):
        pipeline = [steps.read(pathlib.Path("set.tar"), format="webdataset"), steps.shuffle(window=1000),
                    steps.decode(image={"key": "jpg", "as": "rgb"}, label={"key": "cls", "as": "int64"}),
                    steps.normalize("image", mean=[0, 0, 0], std=[1, 1, 1]), steps.batch(64)]
        self.assertEqual(configuration_text(pipeline).splitlines()[3:], [
            '    - {"read": {"url": "set.tar", "format": "webdataset"}}',
            '    - {"shuffle": {"window": 1000}}',
            '    - {"decode": {"image": {"key": "jpg", "as": "rgb"}, "label": {"key": "cls", "as": "int64"}}}',
            '    - {"normalize": {"field": "image", "mean": [0, 0, 0], "std": [1, 1, 1]}}',
            '    - {"batch": {"size": 64}}'])

    def test_an_unknown_setting_and_a_missing_one_are_type_errors_with_its_name(self):
        with self.assertRaisesRegex(TypeError, "unexpected keyword argument 'windw'"):
            steps.shuffle(windw=1000)
        with self.assertRaisesRegex(TypeError, "'size'"):
            steps.batch()

    def test_help_has_the_meaning_and_the_limits_of_a_setting(self):
        self.assertRegex(steps.publish.__doc__, r"slots: Number of batches .* Allowed: 2 to 65536. Default: 8\.")

    @unittest.skipUnless(mypy(), "no mypy")
    @unittest.skipUnless(importlib.util.find_spec("torch"), "no torch")
    def test_mypy_sees_tensors_and_finds_mistakes(self):
        with tempfile.TemporaryDirectory() as cache:
            done = subprocess.run([mypy(), "--strict", "--follow-imports=silent", "--python-executable", sys.executable,
                                   "--cache-dir", cache, HERE / "typed_program.py"], capture_output=True, text=True,
                                  env={**os.environ, "MYPYPATH": os.environ["PYTHONPATH"]}, timeout=170, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=1)
