#!/usr/bin/env python3
"""Jobs on several hosts: network namespaces with a daemon and two ranks each, over nginx in a namespace of its own. The
hosts read disjoint parts of the data and give the order of a single host, also with a new host, and on fewer hosts. Changes
of the echo factor that they agree upon come at one batch, whatever fails: ECHOLINE_HOST_FAULTS=N repeats the failures,
ECHOLINE_SEED=N their order."""
import collections
import concurrent.futures
import contextlib
import itertools
import os
import random
import signal
import tarfile
import time
import unittest

from support.daemon_process import Daemon, stream_yaml
from support.job_hosts import Etcd, HostDaemon, Job, Store, started
from support.network import Network
from support.process_case import ProcessCase, main
from support.programs import PATIENCE, require_library, wait_until
from support.records import DECODE, Records
from support.trainer_program import rows_of

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

FAULTS = int(os.environ.get("ECHOLINE_HOST_FAULTS", 3))
SEED = int(os.environ.get("ECHOLINE_SEED", time.time_ns() % 1_000_000))
ECHO = "max: 2, window: 128, allow_repeats: true"
FACTORS = (1.0, 1.25, 1.5, 1.75, 2.0)
AWAITS, RATIO = "echoline_echo_factor_awaits_hosts", "echoline_upstream_downstream_ratio"
NO_ETCD = "the hosts cannot agree on changes"

require_library()

import echoline  # noqa: E402


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


class FourHosts(HostsCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
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


class HostsThatAgree(HostsCase):
    """Something fails while a change is open: one host is stopped until then, so that it has not answered, and all others
    have. `places` are those of the host that proposes the change, of the silent one, and of one that has answered."""
    runs = itertools.count()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.etcd = cls.class_resource(Etcd(cls.network.add(), cls.class_folder()))
        cls.pool = cls.enterClassContext(concurrent.futures.ThreadPoolExecutor(1))
        cls.random = random.Random(SEED)

    def class_processes(self):
        return {self.etcd.pid}

    @contextlib.contextmanager
    def reading(self, factor, pace):
        """A job on all hosts. At the end, its batches are compared with those of a single host."""
        etcd = f"etcd: {{endpoints: ['{self.etcd.endpoint}'], prefix: /{next(self.runs)}/}}"
        self.new_daemon = lambda host: HostDaemon(
            host, stream(self.store.url, echo=f"echo: {{factor: {factor}, {ECHO}}}"), more=etcd)
        with contextlib.ExitStack() as stack:
            self.start = lambda hosts: stack.enter_context(started([self.new_daemon(host) for host in hosts]))
            self.daemons = self.start(self.hosts)
            stack.callback(lambda: [daemon.process.send_signal(signal.SIGCONT) for daemon in self.daemons])
            self.job = Job(self.daemons, RANKS, more=["--pace", pace])
            stack.callback(self.job.kill)
            self.job.await_steps(8)
            yield
            self.job.kill()
            self.check_order()

    def check_order(self):
        batches, _ = self.job.steps()
        lines = self.job.lines(0)
        with Daemon(stream(self.records.url, echo=f"echo: {{factor: 1, {ECHO}}}")) as alone:
            for epoch, group in itertools.groupby(enumerate(batches), lambda one: one[1][0]):
                found = list(group)
                # The changes of an epoch are in its states.
                state = next(lines[place]["state"] for place, _ in reversed(found) if lines[place]["state"]["epoch"] == epoch)
                self.check_equal_batches([rows for _, (_, rows) in found], read_alone(alone, state, len(found)))
        print(f"ECHOLINE_SEED={SEED}: {len(batches)} steps in {batches[-1][0] + 1} epochs, longest wait "
              f"{self.longest_wait():.2f} s")

    def factors(self):
        """What the last states of all ranks have."""
        changes = [self.job.last_state(rank)["changes"] for rank in range(LANES)]
        return {of_rank[-1][1] / 1000 if of_rank else 1.0 for of_rank in changes}

    def set_echo(self, place, factor):
        return self.pool.submit(self.daemons[place].command, "set-echo", "train", factor)

    def sees_open_change(self, silent, seconds):
        """All hosts but the silent one have answered within that time."""
        others = [daemon for place, daemon in enumerate(self.daemons) if place != silent]
        try:
            wait_until(lambda: all(daemon.total(AWAITS) for daemon in others), "hosts that have answered", seconds)
        except AssertionError:
            return False
        return True

    def change_while(self, fault):
        """Proposes another factor. It comes on all hosts, or on none with an error that says why."""
        places = proposer, silent, _ = self.random.sample(range(HOSTS), 3)
        (before,), begin = self.factors(), time.monotonic()
        factor = self.random.choice([one for one in FACTORS if one != before])
        stopped = self.daemons[silent].process
        stopped.send_signal(signal.SIGSTOP)
        command = self.set_echo(proposer, factor)
        self.assertTrue(self.sees_open_change(silent, PATIENCE), command.done() and command.result())
        with fault(self, *places):
            stopped.send_signal(signal.SIGCONT)
        done = command.result()
        text = done.stdout or done.stderr
        wait_until(lambda: not any(daemon.total(AWAITS) for daemon in self.daemons), "hosts that know the decision")
        self.job.await_more_steps(AHEAD)
        if done.returncode == 0:
            self.await_factor(factor)
        elif fault is not HostsThatAgree.killed_proposer:
            self.assertIn("the echo factor cannot be changed now: ", text)
            self.assertEqual(self.factors(), {before})
        print(f"{fault.__name__}: {before} to {factor}: {text.splitlines()[0]}; longest wait {self.longest_wait(begin):.2f} s",
              flush=True)

    def longest_wait(self, begin=0):
        """Of all trainers for batches that they got after that time; their first ones do not count."""
        return max(line["wait"] for rank in range(LANES) for line in self.job.lines(rank)[1:] if line["time"] > begin)

    def await_factor(self, factor):
        wait_until(lambda: self.factors() == {factor}, f"{factor} on all ranks")
        self.assertEqual([daemon.total("echoline_echo_factor") for daemon in self.daemons], HOSTS * [factor])

    def change_at_last(self):
        """The registration of a dead host ends, and changes are possible again."""
        factor = self.random.choice([one for one in FACTORS if one not in self.factors()])
        wait_until(lambda: self.set_echo(0, factor).result().returncode == 0, "a change without the dead host", 60)
        self.await_factor(factor)

    # ---- what fails ----

    def await_message(self, daemon, before):
        wait_until(lambda: daemon.log().count(NO_ETCD) > before, "a message about etcd")

    @contextlib.contextmanager
    def lost_link_of(self, place):
        daemon = self.daemons[place]
        before = daemon.log().count(NO_ETCD)
        daemon.host.lose(self.etcd.host)
        try:
            yield
            self.await_message(daemon, before)
        finally:
            daemon.host.find(self.etcd.host)

    def lost_link(self, _proposer, _silent, answered):
        return self.lost_link_of(answered)

    def lost_link_of_proposer(self, proposer, *_):
        return self.lost_link_of(proposer)

    @contextlib.contextmanager
    def killed_etcd(self, *_):
        before = [daemon.log().count(NO_ETCD) for daemon in self.daemons]
        self.etcd.kill()
        try:
            yield
            for daemon, count in zip(self.daemons, before):
                self.await_message(daemon, count)
        finally:
            self.etcd.start()

    @contextlib.contextmanager
    def killed(self, place):
        self.daemons[place].stop(signal.SIGKILL)
        self.job.kill_host(place)
        yield
        (self.daemons[place],) = self.start([self.network.add()])
        self.job.replace_host(place, self.daemons[place])

    def killed_proposer(self, proposer, *_):
        return self.killed(proposer)

    def killed_silent(self, _proposer, silent, _answered):
        return self.killed(silent)

    def killed_answered(self, _proposer, _silent, answered):
        return self.killed(answered)

    def test_a_change_comes_at_one_batch_on_all_hosts_or_on_none_whatever_fails(self):
        short = [HostsThatAgree.lost_link, HostsThatAgree.killed_etcd, HostsThatAgree.killed_answered]
        every = [*short, HostsThatAgree.killed_silent, HostsThatAgree.killed_proposer, HostsThatAgree.lost_link_of_proposer]
        for first in range(0, FAULTS, len(every)):
            faults = short if FAULTS <= len(short) else self.random.sample(every, len(every))
            with self.reading(1, 0.02):
                for number, fault in enumerate(faults[:FAULTS - first]):
                    self.change_while(fault)
                    if len(faults) > len(short) and "killed_" in fault.__name__:
                        self.change_at_last()

    @unittest.skipUnless(FAULTS > 3, "ECHOLINE_HOST_FAULTS is not set; e2e.Agreement has `auto` on two daemons")
    def test_auto_follows_the_slowest_host_on_all_and_waits_for_etcd(self):
        self.addCleanup(self.hosts[1].shape, 1e10)
        self.hosts[1].shape(2.5e6)
        with self.reading("auto", 0.01):
            stopped = self.daemons[3].process
            wait_until(lambda: self.daemons[1].total(RATIO) > 1, "R of the slow host")
            while self.factors() == {1}:
                # Shorter than its registration lasts without it.
                stopped.send_signal(signal.SIGSTOP)
                is_open = self.sees_open_change(3, 8)
                with self.killed_etcd() if is_open else contextlib.nullcontext():
                    stopped.send_signal(signal.SIGCONT)
                print(f"etcd {'was' if is_open else 'was not'} killed during a change")
                self.job.await_more_steps(AHEAD)
            wait_until(lambda: len(self.factors()) == 1 and min(self.factors()) > 1, "a larger factor on all ranks")


def read_alone(daemon, state, count):
    """The valid rows of the first batches of an epoch, with its changes, on a single host."""
    with echoline.Loader("train", "fingerprint", runtime_dir=daemon.runtime_dir) as loader:
        fingerprint = loader.fingerprint
    batches = []
    with echoline.Loader("train", state={**state, "row": 0, "fingerprint": fingerprint},
                         runtime_dir=daemon.runtime_dir) as loader:
        while len(batches) < count:
            if (batch := loader.next()) is not None:
                batches.append([tuple(row[:3]) for row in rows_of(batch) if row[3]])
            del batch
    return batches


if __name__ == "__main__":
    main()
