"""Use from several threads, and Ctrl-C during each kind of wait."""
import signal
import statistics
import subprocess
import sys
import threading
import time
import unittest

import echoline
from ring_server import RingServer

INTERRUPTED = """
import sys, time, echoline
loader = echoline.Loader('train', runtime_dir=sys.argv[1])
wait = {'next': loader.next, 'for': lambda: [batch for batch in loader]}.get(sys.argv[2])
if wait is None:
    import os, signal
    os.kill(int(sys.argv[3]), signal.SIGSTOP)
    while open(f'/proc/{sys.argv[3]}/stat').read().rpartition(')')[2].split()[0] != 'T':
        time.sleep(0.001)
    wait = lambda: echoline.Loader('train', job='other', runtime_dir=sys.argv[1])
for _ in range(9):
    try:
        print('waiting', flush=True)
        wait()
    except KeyboardInterrupt:
        print(time.monotonic(), flush=True)
"""


def run_all(*works):
    """Runs each function in a thread; returns the exceptions."""
    raised = []

    def run(work):
        try:
            work()
        except BaseException as error:  # noqa: B902
            raised.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


class Threads(unittest.TestCase):
    def test_threads_share_a_loader_by_next_and_each_gets_other_batches(self):
        with RingServer(rows=400, slots=16) as server:
            loader = echoline.Loader("train", runtime_dir=server.dir)
            seen, ends = [], []

            def take():
                for _ in range(200):
                    batch = loader.next()
                    if batch is None:
                        ends.append(loader.epoch)
                    else:
                        seen.append((batch.epoch, batch.step, int(batch["label"][0])))
                    del batch  # the other threads may have taken all later batches

            self.assertEqual(run_all(*[take] * 4), [])
            self.assertEqual(len(seen) + len(ends), 800)
            self.assertEqual(sorted(seen), [(n // 100, n % 100, n // 100 * 1_000_000 + n % 100 * 4)
                                            for n in range(len(seen))])
            self.assertEqual(len(ends), len(seen) // 100)

    def test_a_loop_is_for_one_thread_at_a_time(self):
        with RingServer(batches_max=2) as server:
            loader = echoline.Loader("train", runtime_dir=server.dir)
            loop = iter(loader)
            self.assertEqual([next(loop).step, next(loop).step], [0, 1])
            ended = []
            waiting = threading.Thread(target=lambda: ended.extend(run_all(lambda: next(loop))))
            waiting.start()
            time.sleep(0.2)
            with self.assertRaisesRegex(echoline.InvalidArgument, "by its next"):
                next(loop)
            loader.close()
            waiting.join()
            self.assertRegex(str(ended), "closed")

    def test_others_run_while_one_waits(self):
        with RingServer(batches_max=0) as server:
            loader = echoline.Loader("train", runtime_dir=server.dir)
            counted = []

            def count():
                end = time.monotonic() + 0.3
                number = 0
                while time.monotonic() < end:
                    number += 1
                counted.append(number)

            count()
            waiting = threading.Thread(target=lambda: run_all(lambda: loader.next(timeout=0.5)))
            waiting.start()
            count()
            waiting.join()
            # Nearly 0 if the wait kept the interpreter's lock; other processes may slow down either count.
            self.assertGreater(counted[1], counted[0] / 20)

    def test_a_batch_may_be_given_back_by_another_thread(self):
        with RingServer(rows=400) as server:
            loader = echoline.Loader("train", runtime_dir=server.dir)
            kept = [loader.next()["image"] for _ in range(4)]
            giver = threading.Timer(0.2, kept.clear)
            giver.start()
            waiting = []
            self.assertEqual(run_all(lambda: waiting.append(loader.next().step)), [])
            self.assertEqual(waiting, [4])


class CtrlC(unittest.TestCase):
    def delays(self, where):
        with RingServer(batches_max=0) as server:
            with subprocess.Popen([sys.executable, "-B", "-c", INTERRUPTED, server.dir, where,
                                   str(server.process.pid)], stdout=subprocess.PIPE) as child:
                delays = []
                for _ in range(9):
                    self.assertEqual(child.stdout.readline(), b"waiting\n")
                    time.sleep(0.08)
                    sent = time.monotonic()
                    child.send_signal(signal.SIGINT)
                    delays.append(float(child.stdout.readline()) - sent)
                return delays

    def test_it_ends_every_wait_within_100_ms(self):
        for where in "next", "for", "attach":
            self.assertLess(statistics.median(self.delays(where)), 0.1, where)


if __name__ == "__main__":
    unittest.main(verbosity=1)
