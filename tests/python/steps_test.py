"""echoline.steps makes what a configuration has; type checkers know the steps and the loaders."""
import importlib.util
import inspect
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import echoline
import echoline.cuda
import numpy as np
from echoline import steps
from echoline._configuration import configuration_text
from echoline._options import FrameworkOptions, LoaderOptions

HERE = pathlib.Path(__file__).resolve().parent


def mypy():
    """The command; None if it is not installed."""
    own = HERE.parents[1] / "build" / "venv" / "bin" / "mypy"
    return os.fspath(own) if own.exists() else shutil.which("mypy")


class Arguments(unittest.TestCase):
    def test_the_arguments_that_type_checkers_know_are_those_of_the_loaders(self):
        def names(function, kind):
            return {name for name, parameter in inspect.signature(function).parameters.items() if parameter.kind in kind}

        by_name = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        taken = names(echoline.Loader.__init__, by_name) - {"self", "stream"}
        self.assertEqual(set(LoaderOptions.__annotations__), taken)
        on_gpu = names(echoline.cuda.Loader.__init__, by_name[:1]) - {"device", "cuda_stream"}
        self.assertEqual(set(FrameworkOptions.__annotations__), taken | on_gpu)


class Numbers:
    """A map-style data set."""

    def __len__(self):
        return 40

    def __getitem__(self, index):
        return np.full((3, 4), index, np.float32), index, index / 2 if index % 2 else 0, f"number {index}"


def numbers():
    return [{"row": np.zeros(2 + number // 5, np.int64)} for number in range(10)]


class MapDatasets(unittest.TestCase):
    NAMES = ("image", "label", "share", "text")

    def test_it_is_the_step_read_with_the_types_of_the_first_samples(self):
        text = {"text": {"as": "uint8", "max_length": 20}}
        step = echoline.MapDataset(Numbers, self.NAMES, text, workers=2)
        self.assertEqual(step, {"read": {"python": {
            "file": os.path.abspath(__file__), "function": "Numbers", "workers": 2, "names": list(self.NAMES),
            "out": {"image": {"as": "float32", "shape": [3, 4]}, "label": {"as": "int64"}, "share": {"as": "float64"}, **text}}}})
        self.assertIn('- {"read": {"python": {"file":', configuration_text([step, steps.batch(4)]))

    def test_what_has_to_be_said_is_an_error_that_names_it(self):
        for arguments, text in (((Numbers, self.NAMES), "field text is a text"), ((Numbers, ("image",)), "has 4 elements"),
                                ((numbers,), r"int64 \[2\], int64 \[3\]; give out="), ((lambda: [],), "no class or function at the top"),
                                ((Numbers(),), "no class or function at the top"), ((len,), "is in no file")):
            with self.subTest(text), self.assertRaisesRegex(echoline.InvalidArgument, text):
                echoline.MapDataset(*arguments)


class Steps(unittest.TestCase):
    def test_they_are_the_steps_of_a_configuration_with_what_is_given(self):
        pipeline = [steps.read(pathlib.Path("set.tar"), format="webdataset"), steps.shuffle(window=1000),
                    steps.decode(image={"key": "jpg", "as": "rgb"}, label={"key": "cls", "as": "int64"}),
                    steps.normalize("image", mean=[0, 0, 0], std=[1, 1, 1]),
                    steps.plugin("a.so", "own", settings={"any": [1, {"key": True}]}), steps.batch(64)]
        self.assertEqual(configuration_text(pipeline).splitlines()[3:], [
            '    - {"read": {"url": "set.tar", "format": "webdataset"}}',
            '    - {"shuffle": {"window": 1000}}',
            '    - {"decode": {"image": {"key": "jpg", "as": "rgb"}, "label": {"key": "cls", "as": "int64"}}}',
            '    - {"normalize": {"field": "image", "mean": [0, 0, 0], "std": [1, 1, 1]}}',
            '    - {"plugin": {"library": "a.so", "step": "own", "settings": {"any": [1, {"key": true}]}}}',
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
    def test_mypy_sees_tensors_and_finds_mistakes_also_in_the_package(self):
        with tempfile.TemporaryDirectory() as cache:
            done = subprocess.run([mypy(), "--warn-unused-ignores", "--python-executable", sys.executable, "--cache-dir", cache,
                                   HERE / "typed_program.py"], capture_output=True, text=True,
                                  env={**os.environ, "MYPYPATH": os.environ["PYTHONPATH"]}, timeout=170, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=1)
