#!/usr/bin/env python3
"""deploy/slurm/train.sbatch on a real Slurm, whose three nodes are processes of this machine (slurmd -N): two nodes with two
ranks each get the order of one host, and a third one prepares their samples."""
import getpass
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "process")]
from support import photos  # noqa: E402
from support.daemon_process import Daemon, stream_yaml  # noqa: E402
from support.process_case import ProcessCase, main  # noqa: E402
from support.programs import PATIENCE, binary, end_with_parent, free_port, require_library, skip, wait_until  # noqa: E402

BATCH, LANES = 8, "    lanes: 2\n"
PREPARE = ("{servers: [PREPARATION_SERVERS], certificate: JOB_FOLDER/host.pem, key: JOB_FOLDER/host.key, "
           "server_ca: JOB_FOLDER/ca.pem, fallback: wait}")  # no row without the server
# The last node's name must be one that hosts can resolve.
SLURM = """ClusterName=test
FirstJobId={job}
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={ports[0]}
AuthType=auth/none
CredType=cred/none
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmdSpoolDir={folder}/%n
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_interval=1,batch_sched_delay=0,sched_min_interval=100000
KillWait=2
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=4 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=4 State=UNKNOWN
NodeName=localhost NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[3]} CPUs=4 State=UNKNOWN
PartitionName=train Nodes=n1,n2 Default=YES State=UP
PartitionName=prepare Nodes=localhost State=UP
"""
RANK = """import json, os, pathlib
import echoline
rank, local = int(os.environ["RANK"]), int(os.environ["LOCAL_WORLD_SIZE"])
loader = echoline.Loader("train", rank=rank, world_size=int(os.environ["WORLD_SIZE"]), wait="1h")
ids = [batch.sample_ids.tolist() for batch in loader]
pathlib.Path(f"rank-{rank}.json").write_text(json.dumps([os.environ["SLURMD_NODENAME"], local, ids]))
"""

for program in ("slurmctld", "slurmd", "sbatch"):
    if not shutil.which(program):
        skip(f"no program {program}: packages slurmctld, slurmd, slurm-client")


def steps(url, prepare=""):
    return [f"read: {{url: '{url}'}}", "shuffle: {window: 20}",
            "decode: {image: {key: jpg, as: rgb}, label: {key: cls, as: int64}}", prepare and f"prepare: {prepare}",
            "random_resized_crop: {field: image, size: 32}", f"batch: {{size: {BATCH}}}", "publish: {slots: 4}"]


class Slurm(ProcessCase):
    def setUp(self):
        super().setUp()
        require_library()
        self.here = self.folder()
        photos.made_shards(self.here, shards=2, records=40)
        (self.here / "state").mkdir()
        (self.here / "rank.py").write_text(RANK, encoding="utf-8")
        first = os.getpid() % 1_000_000 + 1  # jobs name folders in /tmp
        self.addCleanup(lambda: [shutil.rmtree(path) for job in range(first, first + 10)
                                 for path in pathlib.Path("/tmp").glob(f"echoline-{job}-*")])
        text = SLURM.format(job=first, folder=self.here, user=getpass.getuser(), host=socket.gethostname(),
                            ports=[free_port() for _ in range(4)])
        (self.here / "slurm.conf").write_text(text, encoding="utf-8")
        self.environment = {**os.environ, "SLURM_CONF": str(self.here / "slurm.conf"),
                            "PATH": f"{pathlib.Path(binary('ECHOLINED')).parent}:{os.environ['PATH']}"}
        self.daemon("slurmctld", "-D")
        for node in ("n1", "n2", "localhost"):
            self.daemon("slurmd", "-D", "-N", node)
        wait_until(lambda: self.call("sinfo", "--noheader", "--Node", "--format=%T").split() == ["idle"] * 3, self.logs,
                   period=0.3)

    def daemon(self, program, *arguments):
        with open(self.here / "slurm.log", "ab") as log:
            process = subprocess.Popen([program, *arguments], env=self.environment, stdout=log, stderr=log,
                                       preexec_fn=end_with_parent)
        self.addCleanup(process.wait, PATIENCE)
        self.addCleanup(process.terminate)

    def call(self, *command):
        return subprocess.run(command, cwd=self.here, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=PATIENCE, check=False).stdout

    def logs(self):
        return "\n".join(path.read_text(errors="replace") for path in self.here.glob("*.log"))

    def script(self, servers):
        """The script for these nodes: no GPUs, few processors, another port."""
        text = (ROOT / "deploy" / "slurm" / "train.sbatch").read_text(encoding="utf-8")
        changes = [(r" --gpus-per-node=8", ""), (r"--ntasks-per-node=8", "--ntasks-per-node=2"),
                   (r"--cpus-per-task=\d+", "--cpus-per-task=1"), (r"--nodes=4", "--partition=prepare --nodes=1"),
                   (r"port=9466", f"port={free_port()}")]
        if not servers:
            changes.append((r"#SBATCH hetjob\n#SBATCH .*\n", ""))
        for old, new in changes:
            text, count = re.subn(old, new, text)
            self.assertGreater(count, 0, old)
        (self.here / "train.sbatch").write_text(text, encoding="utf-8")

    def train(self, url, prepare=""):
        """What each rank has written."""
        self.script(servers=bool(prepare))
        for old in self.here.glob("rank-*.json"):
            old.unlink()
        (self.here / "stream.yaml").write_text(
            f"daemon: {{metrics: 'off', workers: 1, memory: 512MiB, state_dir: {self.here}/kept}}\nstreams:\n"
            + stream_yaml(steps(url, prepare), more=LANES), encoding="utf-8")
        self.call("sbatch", "--output=job.log", "train.sbatch", "stream.yaml", sys.executable, "-B", "rank.py")
        # The job ends with its daemons.
        wait_until(lambda: not self.call("squeue", "--noheader"), "the job ends", period=0.3)
        return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(self.here.glob("rank-*.json"))]

    def test_ranks_on_two_nodes_read_the_order_of_one_host_alone_or_prepared_on_a_third(self):
        url = f"{self.here}/photos-*.tar"
        with Daemon(stream_yaml(steps(url), more=LANES), memory="128MiB") as alone:
            expected = [batch["sample_ids"] for batch in alone.read("--epochs", 1)]
        for step in ("", PREPARE):
            with self.subTest(step):
                ranks = self.train(url, step)
                self.assertEqual([(node, local) for node, local, _ in ranks],
                                 [("n1", 2), ("n1", 2), ("n2", 2), ("n2", 2)], self.logs())
                self.assertEqual([sum(parts, []) for parts in zip(*(ids for *_, ids in ranks))], expected)
        # Without its daemons a job is cancelled: its ranks would wait for an hour.
        self.assertEqual(self.train(f"{self.here}/none-*.tar"), [])
        self.assertIn("none-*.tar: no file matches", (self.here / "job.log").read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
