"""echoline.ray on a real Ray with two nodes, as processes of this machine. Skipped where there is no ray."""
import json
import os
import pathlib
import signal
import tempfile
import unittest

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
try:
    import ray
    from ray.cluster_utils import Cluster
    import echoline.ray
except ImportError as error:
    raise unittest.SkipTest(f"no ray (pip install 'ray[train]': 630 MB): {error}") from error
import echoline

MEMORY = {"object_store_memory": 80_000_000}
ROWS, BATCH = 96, 8
ECHOLINED = os.environ.get("ECHOLINED", "")


def configuration(folder, lanes):
    """A stream of the numbers 0 to 95; they also are its rows' ids."""
    for shard in range(4):
        lines = [json.dumps({"number": number}) for number in range(shard * ROWS // 4, (shard + 1) * ROWS // 4)]
        pathlib.Path(folder, f"part-{shard}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {"daemon": {"metrics": "off", "workers": 1, "memory": "64MiB", "state_dir": f"{folder}/state"},
            "streams": {"train": {"seed": 3, "lanes": lanes, "pipeline": [
                {"read": {"url": f"{folder}/part-*.jsonl", "format": "jsonl"}}, {"shuffle": {"window": 16}},
                {"decode": {"number": {"key": "number", "as": "int64"}}}, {"batch": {"size": BATCH}},
                {"publish": {"slots": 4}}]}}}


class Rank:
    """An actor that reads its part of each batch."""

    def open(self, daemons, place, **more):
        self._loader = daemons.loader("train", place, **more)
        return self._loader.runtime_dir, ray.get_runtime_context().get_node_id()

    def read(self, batches):
        """The numbers of the next batches."""
        return [self._loader.next(60)["number"].tolist() for _ in range(batches)]

    def daemon(self):
        from echoline._processes import pid_behind
        return pid_behind(pathlib.Path(self._loader.runtime_dir) / "control.sock")


class Places(unittest.TestCase):
    def test_lanes_follow_from_the_rank(self):
        """Four ranks on two nodes."""
        first, last = echoline.ray.Place(0, 4, 0, 2), echoline.ray.Place(3, 4, 1, 2)
        self.assertEqual([list(first.lanes(total)) for total in (1, 2, 8)], [[0], [0], [0, 1]])
        self.assertEqual([list(last.lanes(total)) for total in (1, 2, 8)], [[0], [1], [6, 7]])
        self.assertEqual([last.reads_alone(total) for total in (1, 2, 3, 4)], [False, True, False, True])


class OnTwoNodes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not ECHOLINED:
            raise unittest.SkipTest("ECHOLINED names no daemon")
        os.environ["ECHOLINE_DAEMON"] = ECHOLINED
        cls.cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False, **MEMORY})
        cls.addClassCleanup(cls.cluster.shutdown)
        cls.cluster.add_node(num_cpus=2, **MEMORY)
        ray.init(address=cls.cluster.address, log_to_driver=False)
        cls.addClassCleanup(ray.shutdown)
        cls.folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.config = configuration(cls.folder, lanes=2)
        with echoline.serve(cls.config) as daemon, daemon.loader("train") as loader:
            cls.expected = [batch["number"].tolist() for batch in loader]

    def daemons(self, config=None, **more):
        daemons = echoline.ray.Daemons(config or self.config, **more)
        self.addCleanup(daemons.stop)
        return daemons

    def ranks(self, count=4):
        """Actors on both nodes in turn."""
        actor = ray.remote(Rank).options(num_cpus=1, scheduling_strategy="SPREAD")
        found = [actor.remote() for _ in range(count)]
        self.addCleanup(lambda: [ray.kill(each) for each in found])
        return found

    def test_ranks_of_plain_actors_read_the_order_of_one_host_from_one_daemon_a_node(self):
        daemons, ranks = self.daemons(), self.ranks()
        places = echoline.ray.places(ranks)
        self.assertEqual(sorted(place.rank for place in places), list(range(4)))
        self.assertEqual({place.local_world_size for place in places}, {2})
        at = ray.get([rank.open.remote(daemons, place) for rank, place in zip(ranks, places)])
        self.assertEqual(len(set(at)), 2)  # one folder for each node
        self.assertEqual(len({folder for folder, _ in at}), 2)
        # Neighbouring ranks are on one node, so each node reads lanes of its own.
        self.assertEqual(len({node for (_, node), place in zip(at, places) if place.rank < 2}), 1)
        self.assertTrue(all(place.reads_alone(2) for place in places))
        parts = ray.get([rank.read.remote(len(self.expected)) for rank in ranks])
        parts = [part for _, part in sorted(zip((place.rank for place in places), parts))]
        self.assertEqual([sum(step, []) for step in zip(*parts)], self.expected)

    def test_a_killed_daemon_comes_back_and_its_trainer_continues_with_the_next_batch(self):
        daemons, (rank,) = self.daemons(), self.ranks(1)
        folder, _ = ray.get(rank.open.remote(daemons, echoline.ray.Place(0, 1, 0, 1)))
        read = ray.get(rank.read.remote(3))
        old = ray.get(rank.daemon.remote())
        os.kill(old, signal.SIGKILL)
        read += ray.get(rank.read.remote(len(self.expected) - 3))
        self.assertEqual(read, self.expected)
        self.assertNotIn(ray.get(rank.daemon.remote()), (0, old))
        daemons.stop()
        self.assertFalse(os.path.exists(folder))

    def test_what_cannot_work_says_why(self):
        with self.assertRaisesRegex(echoline.FailedPrecondition, "no worker of Ray Train.*echoline.ray.places"):
            self.daemons().loader("train")
        missing = json.loads(json.dumps(self.config).replace("part-", "none-"))
        with self.assertRaisesRegex(echoline.Error, "the daemon of node \\w+ did not start: (.|\\n)*none-.*no file matches"):
            self.daemons(missing).loader("train", echoline.ray.Place(0, 1, 0, 1))
        with self.assertRaises(echoline.InvalidArgument):
            self.daemons("nowhere/stream.yaml")
        with self.assertRaises(echoline.InvalidArgument):
            echoline.ray.places([])
        with self.assertRaises(echoline.InvalidArgument):
            self.daemons(cpus=-1)

    def test_nodes_that_read_the_same_lanes_are_named(self):
        one_lane = self.daemons(configuration(self.folder, lanes=1))
        with self.assertLogs("echoline", "WARNING") as logs:
            one_lane.loader("train", echoline.ray.Place(0, 2, 0, 1)).close()
        self.assertIn("lanes: 1 and 1 of 2 ranks here, other nodes read the same data", logs.output[0])
        with self.assertNoLogs("echoline", "WARNING"):
            self.daemons().loader("train", echoline.ray.Place(0, 2, 0, 1)).close()

    def test_workers_of_ray_train_get_their_place_from_it(self):
        try:
            from ray import train
            from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer  # base of TorchTrainer, without torch
        except ImportError as error:
            self.skipTest(f"no ray.train: {error}")

        def work(config):
            with config["daemons"].loader("train", job="trained") as loader:
                rows = [batch["number"].tolist() for batch in loader]
            place = echoline.ray.place_in_train()
            path = pathlib.Path(config["out"], f"{place.rank}.json")
            path.write_text(json.dumps([loader.runtime_dir, place.world_size, place.local_world_size, rows]), encoding="utf-8")

        with tempfile.TemporaryDirectory() as out:
            DataParallelTrainer(work, train_loop_config={"daemons": self.daemons(), "out": out},
                                # Ray Train knows nodes by their addresses, and the two nodes here have the same.
                                scaling_config=train.ScalingConfig(num_workers=2, placement_strategy="STRICT_PACK"),
                                run_config=train.RunConfig(storage_path=out)).fit()
            found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(pathlib.Path(out).glob("*.json"))]
        self.assertEqual([(size, local) for _, size, local, _ in found], [(2, 2)] * 2)
        self.assertEqual(len({folder for folder, *_ in found}), 1)
        self.assertEqual([sum(step, []) for step in zip(*(rows for *_, rows in found))], self.expected)
