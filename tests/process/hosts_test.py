#!/usr/bin/env python3
"""Jobs on several hosts: network namespaces with a daemon and two ranks each, over nginx in a namespace of its own. The
hosts read disjoint parts of the data and give the order of a single host, also with a new host, and on fewer hosts."""
import collections
import signal
import tarfile

from support.daemon_process import stream_yaml
from support.job_hosts import HostDaemon, Job, Store, started
from support.network import Network
from support.process_case import ProcessCase, main
from support.programs import require_library
from support.records import DECODE, Records

from memcached_server import Memcached  # of tests/servers

HOSTS, RANKS = 4, 2
LANES = HOSTS * RANKS
BATCH, SLOTS = 16, 2
RECORDS = 1030  # so that the last batch of an epoch has fewer rows than there are ranks
AHEAD = 14  # steps for which a host's slots and read-ahead have room
STEPS = -(-RECORDS // BATCH)  # of an epoch
READ_AHEAD = 1 << 20
BALLAST = (17_000, 24_000)  # more than the gap between two records that one request may span
TRIED = 8  # records that a daemon decodes at its start

require_library()


def stream(url, cache="", echo=""):
    """Without second requests for late answers, so that each byte is read once also on a busy machine."""
    return stream_yaml([f"read: {{url: '{url}', format: webdataset, read_ahead: {READ_AHEAD >> 10}KiB, hedge: off}}", cache,
                        "shuffle: {window: 64}", DECODE, echo, "random_crop: {field: image, size: 8, padding: 2}",
                        f"batch: {{size: {BATCH}, last: pad}}", f"publish: {{slots: {SLOTS}}}"],
                       more=f"    lanes: {LANES}\n")


def places(paths):
    """Of each record, its shard and its bytes: (name, first, last)."""
    found = []
    for path in sorted(paths):
        with tarfile.open(path) as tar:
            members = tar.getmembers()
        by_record = collections.defaultdict(list)
        for member in members:
            by_record[member.name.partition(".")[0]].append(member)
        found += [(path.name, parts[0].offset, parts[-1].offset_data + parts[-1].size - 1) for parts in by_record.values()]
    return found


class HostsCase(ProcessCase):
    @classmethod
    def setUpClass(cls):
        cls.network = cls.class_resource(Network())
        cls.records = Records(cls.class_folder(), RECORDS, shards=8, ballast=BALLAST)
        cls.store = cls.class_resource(Store(cls.network.add(), cls.class_folder(), cls.records.paths))
        cls.hosts = [cls.network.add() for _ in range(HOSTS)]
        cls.places = places(cls.records.paths)
        with started([HostDaemon(cls.hosts[0], stream(cls.records.url))]) as daemons, Job(daemons, 1) as job:
            cls.expected, _ = job.await_steps(2 * STEPS + 2).steps()

    def daemon(self, host, cache=""):
        return HostDaemon(host, stream(self.store.url, cache))

    def read_by(self, answers):
        """Of each record, the addresses of the clients that asked for all of it, as often as they did."""
        asked = collections.defaultdict(list)
        for client, name, first, last in answers:
            asked[name].append((client, first, last))
        return [collections.Counter(client for client, begin, end in asked[name] if begin <= first and last <= end)
                for name, first, last in self.places]

    def share_read(self, answers):
        """The bytes of shards that were answered, as a multiple of the data."""
        shards = {path.name for path in self.records.paths}
        return sum(last - first + 1 for _, name, first, last in answers if name in shards) / self.records.bytes


class FourHosts(HostsCase):
    def test_hosts_read_disjoint_parts_and_give_the_order_of_one_host(self):
        count = 2 * STEPS - AHEAD  # so that nobody has asked for the third epoch
        self.store.answers_at_rest()  # those of other tests
        with started([self.daemon(host) for host in self.hosts]) as daemons:
            answers = self.store.answers_at_rest()
            indexes = [(client, name) for client, name, *_ in answers if name.endswith(".echoline-index")]
            self.assertEqual(sorted(set(indexes)), sorted((host.address, f"{path.name}.echoline-index")
                                                          for host in self.hosts for path in self.records.paths))
            # Each would read all of the data to make the index, and reads only the first records to try the steps.
            self.assertLess(self.share_read(answers), 0.1 * HOSTS, "the published index saves the pass over the shards")
            with Job(daemons, RANKS, more=["--stop-after", count]) as job:
                batches, _ = job.await_steps(count).steps()
                answers += self.store.answers_at_rest()
        self.check_equal_batches(batches, self.expected[:count])
        self.check_disjoint(answers, [[row[0] for row in rows] for _, rows in batches])

    def check_disjoint(self, answers, batches):
        """`batches` are the records of those of two epochs, as far as they were delivered."""
        read, owners = self.read_by(answers), collections.defaultdict(collections.Counter)
        for records in batches:
            for place, record in enumerate(records):
                rank = next(rank for rank in range(LANES) if place < (rank + 1) * len(records) // LANES)
                owners[record][self.hosts[rank // RANKS].address] += 1
        # Until all ranks of a host are attached, it does not know which lanes the other hosts have, and fills its slots. At
        # its start, a daemon also decodes the first records of the index. The first row of a short batch is on all hosts.
        early = {*sum(batches[:SLOTS], []), *range(TRIED), batches[STEPS - 1][0]}
        records = set(sum(batches[STEPS:], [])) - early
        for record in records:
            self.assertEqual(set(read[record]), set(owners[record]), f"record {record}")
            self.assertGreaterEqual(read[record], owners[record], f"record {record}")
        # On a busy machine, a request that times out is sent again.
        self.assertLessEqual(sum((read[record] - owners[record]).total() for record in records), len(records) // 20)

    def test_a_job_goes_on_with_a_new_host_and_with_half_of_the_hosts(self):
        with started([self.daemon(host) for host in self.hosts]) as daemons:
            with Job(daemons, RANKS, more=["--pace", 0.005]) as job:
                job.await_steps(STEPS // 4)
                self.addCleanup(self.hosts[2].heal)
                self.hosts[2].cut()
                daemons[2].stop(signal.SIGKILL)
                job.kill()  # a launcher ends all ranks when one is gone
                batches, state = job.steps()
            self.check_equal_batches(batches, self.expected[:len(batches)])
            daemons[2].close()
            fresh = self.network.add()
            with started([self.daemon(fresh)]) as (replacement,):
                daemons[2] = replacement
                state = self.check_continues(daemons, state, STEPS)
                self.check_continues(daemons[:2], state, STEPS // 4)

    def check_continues(self, daemons, state, count):
        """Reads `count` steps from the state; the state after them."""
        place = state["epoch"] * STEPS + state["row"] // BATCH
        with Job(daemons, RANKS, state, more=["--stop-after", count]) as job:
            batches, state = job.await_steps(count).steps()
        self.check_equal_batches(batches, self.expected[place:place + count])
        return state

    def test_with_a_fleet_they_read_each_object_once_in_all_epochs(self):
        fleet = [host.call(Memcached, address=host.address) for host in self.hosts]
        for host, server in zip(self.hosts, fleet):
            host.call(server.start)
            self.addCleanup(server.kill)
        self.store.answers_at_rest()  # those of other tests
        cache = "cache: {fleet: [" + ", ".join(f"'{server.address}'" for server in fleet) + "]}"
        with started([self.daemon(host, cache) for host in self.hosts]) as daemons:
            with Job(daemons, RANKS, more=["--stop-after", 2 * STEPS]) as job:
                batches, _ = job.await_steps(2 * STEPS).steps()
                answers = self.store.answers_at_rest()
        self.check_equal_batches(batches, self.expected[:2 * STEPS])
        read = self.share_read(answers)
        print(f"two epochs on {HOSTS} hosts read {read:.3f} times the data, their starts included")
        self.assertLessEqual(read, 1.1)

    def test_a_factor_that_was_set_on_one_host_reaches_all_with_the_state(self):
        echo = f"echo: {{factor: 1, max: 2, window: {8 * BATCH}}}"
        daemons = [HostDaemon(host, stream(self.store.url, echo=echo)) for host in self.hosts]
        count = 2 * STEPS + STEPS // 4  # into the next epoch
        with started(daemons):
            with Job(daemons[:1], 1, more=["--pace", 0.01, "--stop-after", count]) as job:
                job.await_steps(4)
                done = daemons[0].command("set-echo", "train", "2")
                self.assertEqual(done.returncode, 0, done.stderr)
                batches, _ = job.await_steps(count).steps()
                changed = next(line for line in job.trainers[0].batches() if line["state"].get("changes"))
            place = changed["state"]["row"] // BATCH
            self.assertLess(place, STEPS // 2)
            self.assertTrue(any(row[1] == 1 for _, rows in batches[place:] for row in rows), "second uses")
            with Job(daemons, RANKS, changed["state"], more=["--stop-after", count - place]) as job:
                found, _ = job.await_steps(count - place).steps()
            self.check_equal_batches(found, batches[place:])
            self.assertEqual(found[-1][0], 1, "the factor stays in the next epoch")


if __name__ == "__main__":
    main()
