"""An installed Echoline works for other projects: with other compilers, shared or static, in a clean virtual environment."""

import argparse
import gzip
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

parser = argparse.ArgumentParser()
parser.add_argument("--build-dir", required=True)
parser.add_argument("--source-dir", required=True, type=pathlib.Path)
parser.add_argument("--part", required=True)
options = parser.parse_args()
HERE = pathlib.Path(__file__).resolve().parent


def run(*command, **settings):
    """The command's output; AssertionError with all of it if the command fails."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, **settings)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


class InstallCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


def compilers():
    """The installed pairs of C and C++ compilers."""
    there = [pair for pair in (("gcc", "g++"), ("clang", "clang++")) if shutil.which(pair[1])]
    assert there
    return there


def build_examples(folder, prefix, cc, cxx, name=""):
    """Builds the example trainers, or the examples in the folder `name`, as a separate project against the installation in
    `prefix`. Returns the folder of what was built."""
    source, build = folder / f"source-{cc}{name}", folder / f"build-{cc}{name}"
    shutil.copytree(options.source_dir / "client" / "examples" / name, source)
    run("cmake", "-S", source, "-B", build, "-G", "Ninja", f"-DCMAKE_C_COMPILER={cc}", f"-DCMAKE_CXX_COMPILER={cxx}",
        f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", build)
    return build


class Installation(InstallCase):
    def setUp(self):
        super().setUp()
        self.prefix = self.folder / "prefix"
        run("cmake", "--install", options.build_dir, "--prefix", self.prefix)
        self.lib_folder = next(self.prefix.rglob("libecholine.so")).parent
        # The user's paths find an installation outside the system's folders.
        self.environment = {**os.environ, "LD_LIBRARY_PATH": str(self.lib_folder),
                            "PKG_CONFIG_PATH": str(self.lib_folder / "pkgconfig")}

    def test_the_programs_start_and_say_their_version(self):
        for name in ("echolined", "echoline"):
            self.assertRegex(run(self.prefix / "bin" / name, "--version", env=self.environment),
                             r"\d+\.\d+\.\d+")
            self.assertIn("--help", run(self.prefix / "bin" / name, "--help", env=self.environment))

    def test_completion_is_where_the_shells_look(self):
        for shell, path in (("bash", "bash-completion/completions/echoline"), ("zsh", "zsh/site-functions/_echoline"),
                            ("fish", "fish/vendor_completions.d/echoline.fish")):
            installed = self.prefix / "share" / path
            self.assertTrue(installed.is_file(), installed)
            if shutil.which(shell):
                run(shell, "-n", installed)

    def test_find_package_builds_the_example_trainer_outside_the_tree(self):
        for cc, cxx in compilers():
            built = build_examples(self.folder, self.prefix, cc, cxx)
            self.assertIn("usage:", run(built / "train_fashion_mnist", "--help"))

    PLUGIN = """
daemon: {{state_dir: {folder}/state}}
streams:
  train:
    pipeline:
      - read: {{url: {folder}/set.tar}}
      - shuffle: {{window: 4}}
      - decode: {{image: {{key: u8, as: uint8, shape: [4, 4, 3]}}}}
      - plugin: {{library: {library}, step: salt_and_pepper, settings: {{share: 0.5}}, workers: 1}}
      - batch: {{size: 4}}
"""

    def test_find_package_builds_the_example_plugin_and_the_installed_program_runs_it(self):
        with tarfile.open(self.folder / "set.tar", "w") as tar:
            for number in range(8):
                member = tarfile.TarInfo(f"{number}.u8")
                member.size = 48
                tar.addfile(member, io.BytesIO(bytes(range(48))))
        config = self.folder / "plugin.yaml"
        for cc, cxx in compilers():
            library, = build_examples(self.folder, self.prefix, cc, cxx, "plugin").glob("*.so")
            config.write_text(self.PLUGIN.format(folder=self.folder, library=library), encoding="utf-8")
            run(self.prefix / "bin/echoline", "index", config, env=self.environment)
            said = run(self.prefix / "bin/echoline", "check", config, env=self.environment)
            self.assertIn("plugin: salt_and_pepper of", said)
            self.assertIn("salt_and_pepper 1.0", said)

    def test_pkg_config_builds_a_c_program_which_reports_that_there_is_no_daemon(self):
        flags = run("pkg-config", "--cflags", "--libs", "echoline", env=self.environment).split()
        for cc, _ in compilers():
            program = self.folder / f"attach-{cc}"
            run(cc, "-Wall", "-Wextra", "-Werror", "-pedantic", HERE / "attach.c", "-o", program, *flags)
            said = run(program, self.folder, env=self.environment)
            self.assertRegex(said, r"version \d+\.\d+\.\d+")
            self.assertIn(str(self.folder), said)

    def test_the_library_needs_only_the_systems_own_libraries(self):
        needed = run("ldd", next(self.lib_folder.glob("libecholine.so.*")))
        for name in ("protobuf", "grpc", "curl", "absl"):
            self.assertNotIn(name, needed)

    def test_nothing_of_the_build_is_installed(self):
        for path in self.prefix.rglob("*"):
            if path.is_file() and path.suffix in (".cmake", ".pc", ".h", ".hpp", ".py"):
                text = path.read_text(encoding="utf-8")
                self.assertNotIn(str(options.source_dir), text, path)


class Static(InstallCase):
    """The library as an archive: built alone, found by CMake and pkg-config, part of the program."""

    def setUp(self):
        super().setUp()
        self.prefix = self.folder / "prefix"
        build = self.folder / "build"
        run("cmake", "-S", options.source_dir, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
            "-DBUILD_SHARED_LIBS=OFF", "-DECHOLINE_DAEMON=OFF", "-DECHOLINE_TESTS=OFF", "-DCMAKE_UNITY_BUILD=ON")
        run("cmake", "--build", build, "--target", "echoline_client")
        for component in ("client", "client_dev"):
            run("cmake", "--install", build, "--prefix", self.prefix, "--component", component)

    def test_programs_contain_the_library(self):
        environment = {**os.environ, "PKG_CONFIG_PATH": str(next(self.prefix.rglob("pkgconfig")))}
        flags = run("pkg-config", "--static", "--cflags", "--libs", "echoline", env=environment).split()
        for cc, cxx in compilers():
            program = self.folder / f"attach-{cc}"
            run(cc, HERE / "attach.c", "-o", program, *flags)
            self.assertRegex(run(program, self.folder), r"version \d+\.\d+\.\d+")
            trainer = build_examples(self.folder, self.prefix, cc, cxx) / "train_fashion_mnist"
            self.assertIn("usage:", run(trainer, "--help"))
            for made in (program, trainer):
                self.assertNotIn("libecholine", run("ldd", made))


class Wheel(InstallCase):
    """The wheel of the README's command, from the programs of this build, in a virtual environment that has only numpy in
    addition. No program and no library of the build is in reach."""

    STREAM = """
daemon: {{runtime_dir: {folder}/run, state_dir: {folder}/state, metrics: "off", memory: 512MiB}}
streams:
  train:
    pipeline:
      - read: {{url: "{folder}/shards/set-*.tar", format: webdataset}}
      - shuffle: {{window: {window}}}
      - decode: {{image: {{key: u8, as: uint8, shape: {shape}}}, label: {{key: cls, as: int64}}}}
      - batch: {{size: {batch}, last: partial}}
      - publish: {{slots: 4}}
"""
    PROGRAM = """
import sys, numpy, echoline
with echoline.serve(sys.argv[1]) as daemon:
    loader = echoline.Loader("train", runtime_dir=daemon.runtime_dir)
    ids = []
    for batch in loader:
        assert batch["image"].shape[1:] == (2, 3) and not batch["image"].flags.writeable
        assert (batch["image"][:, 0, 0] == batch["label"]).all()
        ids += list(map(int, batch.sample_ids))
        del batch
    print("ids", sorted(ids), "version", echoline.__version__)
"""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.venv, dist = pathlib.Path(folder.name, "venv"), pathlib.Path(folder.name, "dist")
        run(sys.executable, "-m", "venv", cls.venv)
        pip = [cls.venv / "bin/pip", "--disable-pip-version-check", "install", "--quiet"]
        try:
            run(*pip, "numpy")
        except AssertionError as error:
            raise unittest.SkipTest(f"pip cannot reach a package index: {error}") from error
        command = next(line.split("`")[1] for line in
                       (options.source_dir / "README.md").read_text(encoding="utf-8").splitlines()
                       if "Python wheel:" in line)
        assert command.endswith(" dist"), command
        run("bash", "-c", command.replace(" dist", f" {dist}"), cwd=options.source_dir,
            env={**os.environ, "PATH": f"{cls.venv}/bin:{os.environ['PATH']}", "ECHOLINE_BUILD": options.build_dir})
        cls.wheels = list(dist.glob("*.whl"))
        run(*pip, *cls.wheels)
        cls.program = {name: cls.venv / "bin" / name for name in ("echoline", "echolined")}
        cls.environment = {key: value for key, value in os.environ.items()
                           if key != "PYTHONPATH" and not key.startswith("ECHOLINE_")}
        cls.environment["ECHOLINE_PRIVATE_DIR"] = f"{folder.name}/private"

    def make_stream(self, images, labels, **pipeline):
        """Packs IDX files and writes the configuration of a stream of them."""
        run(self.program["echoline"], "pack", "--from", "idx", "--output", self.folder / "shards",
            "--name", "set", images, labels)
        config = self.folder / "stream.yaml"
        config.write_text(self.STREAM.format(folder=self.folder, **pipeline), encoding="utf-8")
        return config

    def test_one_wheel_for_every_python_and_nothing_left_in_the_source(self):
        self.assertEqual(len(self.wheels), 1)
        self.assertRegex(self.wheels[0].name, r"^echoline-\d+\.\d+\.\d+-cp39-abi3-manylinux_2_\d+_\w+\.whl$")
        self.assertLess(self.wheels[0].stat().st_size, 60_000_000)
        left = [path.name for path in (options.source_dir / "client" / "python").iterdir()
                if path.name not in ("CMakeLists.txt", "native", "pyproject.toml", "scripts", "setup.py", "echoline")]
        self.assertEqual(left, [])

    def test_the_programs_are_on_the_path_and_need_only_basic_libraries_of_the_system(self):
        system = ("ld-linux", "libc.so", "libm.so", "libstdc++", "libgcc_s", "libdl.", "libpthread.", "librt.", "libresolv.", "libz.so",
                  "linux-vdso")
        for name, program in self.program.items():
            self.assertRegex(run(program, "--version", env=self.environment, cwd=self.folder), rf"{name} \d+\.\d+\.\d+")
            binary, = self.venv.glob(f"lib/python*/site-packages/echoline/bin/{name}")
            foreign = [line for line in run("ldd", binary).splitlines()
                       if "/echoline.libs/" not in line and not any(one in line for one in system)]
            self.assertEqual(foreign, [])

    def test_the_example_of_the_first_page_works_as_it_stands(self):
        text = (options.source_dir / "README.md").read_text(encoding="utf-8")
        program = text.split("```python\n", 1)[1].split("```", 1)[0]
        said = run(self.venv / "bin/python", "-c", program, cwd=self.folder, env=self.environment, timeout=60)
        expected = program.splitlines()[-1].split("# ")[1]
        self.assertIn(expected, said)

    def test_serve_and_loader_work_in_a_clean_environment(self):
        images = bytes([0, 0, 8, 3, 0, 0, 0, 10, 0, 0, 0, 2, 0, 0, 0, 3])
        images += b"".join(bytes([label] * 6) for label in range(10))
        (self.folder / "images").write_bytes(images)
        (self.folder / "labels").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 10, *range(10)]))
        config = self.make_stream(self.folder / "images", self.folder / "labels", window=4, batch=4,
                                  shape="[2, 3]")
        said = run(self.venv / "bin/python", "-c", self.PROGRAM, config, cwd=self.folder,
                   env=self.environment, timeout=60)
        self.assertIn(f"ids {list(range(10))}", said)

    def test_the_forty_line_trainer_learns_real_images(self):
        data = pathlib.Path("/usr/share/datasets/fashion-mnist")
        if not data.is_dir():
            self.skipTest("the package dataset-fashion-mnist is not installed")
        config = self.make_stream(data / "train-images-idx3-ubyte.gz", data / "train-labels-idx1-ubyte.gz",
                                  window=10000, batch=128, shape="[28, 28, 1]")
        for name in ("images-idx3", "labels-idx1"):
            with gzip.open(data / f"t10k-{name}-ubyte.gz") as packed:
                (self.folder / name).write_bytes(packed.read())
        with subprocess.Popen([self.program["echolined"], "--config", config],
                              stderr=subprocess.DEVNULL) as daemon:
            try:
                door = self.folder / "run" / "door.sock"
                deadline = time.monotonic() + 30
                while not door.exists() and time.monotonic() < deadline:
                    time.sleep(0.02)
                said = run(self.venv / "bin/python",
                           options.source_dir / "client/examples/train_fashion_mnist.py",
                           self.folder / "images-idx3", self.folder / "labels-idx1", "train", "0.60",
                           cwd=self.folder, timeout=120,
                           env={**self.environment, "ECHOLINE_RUNTIME_DIR": str(self.folder / "run")})
            finally:
                daemon.terminate()
        self.assertLessEqual(float(said.split()[-1]), 0.60)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], options.part], verbosity=1)
