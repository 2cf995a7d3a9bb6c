"""Processes that read on a GPU end properly: after Ctrl-C, at their normal end, without a GPU, after a GPU failure."""
import os
import signal
import subprocess
import sys
import time
import unittest

import cuda_driver  # noqa: F401  (skips this file without the fake driver)
from ring_server import RingServer


class Ends(unittest.TestCase):
    def run_in_process(self, code, **environment):
        with RingServer(batches_max=1) as server:
            # Python 3.12 and later warn about a fork while other threads run.
            process = subprocess.Popen([sys.executable, "-W", "ignore::DeprecationWarning", "-c", code, server.dir],
                                       stdout=subprocess.PIPE, text=True, stderr=subprocess.PIPE,
                                       env={**os.environ, **environment})
            if "ready" in code:
                self.assertEqual(process.stdout.readline(), "ready\n")
                time.sleep(0.1)  # until the child waits; if the sleep is too short, the test covers less, but passes
                process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        return process.returncode, errors

    def test_ctrl_c_ends_a_wait(self):
        code, errors = self.run_in_process("import sys, echoline.cuda\n"
                                           "loader = echoline.cuda.Loader('train', runtime_dir=sys.argv[1])\n"
                                           "batch = loader.next()\nprint('ready', flush=True)\nloader.next()\n")
        self.assertIn("KeyboardInterrupt", errors)
        self.assertEqual(code, -signal.SIGINT, errors)

    def test_a_forked_child_is_told(self):
        code, errors = self.run_in_process("import os, sys, echoline.cuda\n"
                                           "loader = echoline.cuda.Loader('train', runtime_dir=sys.argv[1])\n"
                                           "batch = loader.next()\n"
                                           "if os.fork() == 0:\n"
                                           "    for use in (loader.next, loader.stats, lambda: batch['image']):\n"
                                           "        try: use(); os._exit(1)\n"
                                           "        except echoline.Forked: pass\n"
                                           "    del batch; loader.close(); os._exit(0)\n"
                                           "assert os.wait()[1] == 0\n"
                                           "assert loader.state_dict()['row'] == 4, loader.state_dict()\n")
        self.assertEqual((code, errors), (0, ""))

    def test_a_process_may_end_without_closing(self):
        code, errors = self.run_in_process("import sys, echoline.cuda\n"
                                           "loader = echoline.cuda.Loader('train', runtime_dir=sys.argv[1])\n"
                                           "batch = loader.next()\n")
        self.assertEqual((code, errors), (0, ""))

    def test_no_gpu_is_said(self):
        code, errors = self.run_in_process("import sys, echoline.cuda\n"
                                           "echoline.cuda.Loader('train', runtime_dir=sys.argv[1])\n",
                                           FAKE_CUDA_DEVICES="0")
        self.assertEqual(code, 1)
        self.assertRegex(errors, r"echoline\._errors\.\w+: .*(CUDA|GPU)")

    @unittest.skipIf("ECHOLINE_GPU_RATE" not in os.environ, "the examples are not built")
    def test_the_example_in_cpp(self):
        def run(**environment):
            with RingServer() as server:
                return subprocess.run([os.environ["ECHOLINE_GPU_RATE"], "train", "2", "3", "5"], capture_output=True,
                                      text=True, timeout=60, check=False,
                                      env={**os.environ, "ECHOLINE_RUNTIME_DIR": server.dir, **environment})

        done = run()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^240 rows, 28 of them fresh, in 60 uses of 2[0-9] batches: \d+ rows/s; shared memory "
                                      r"registered read-only\ncopied .*the stream waited [\d.]+ % of the time\n$")
        done = run(FAKE_CUDA_DEVICES="0")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, "^gpu_rate: unavailable: .*CUDA_ERROR_NO_DEVICE")

    def test_failures_of_the_driver_are_told_by_name(self):
        code, errors = self.run_in_process("import sys, echoline.cuda\n"
                                           "echoline.cuda.Loader('train', runtime_dir=sys.argv[1])\n",
                                           FAKE_CUDA_FAIL="cuMemAlloc_v2:2:1")
        self.assertEqual(code, 1)
        self.assertRegex(errors, "of GPU memory for a batch; lower the depth.*CUDA_ERROR_OUT_OF_MEMORY")
        code, errors = self.run_in_process("import sys, echoline.cuda\n"
                                           "loader = echoline.cuda.Loader('train', runtime_dir=sys.argv[1])\n"
                                           "while loader.next(): pass\n", FAKE_CUDA_FAIL="async:700:1+")
        self.assertEqual(code, 1)
        self.assertRegex(errors, "CUDA_ERROR_ILLEGAL_ADDRESS")


if __name__ == "__main__":
    unittest.main(verbosity=1)
