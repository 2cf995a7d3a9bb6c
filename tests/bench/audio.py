"""Log-mel spectrograms for each CPU-second, of WAV files in tar shards. CPU is all of the daemon's, with one worker and
without its start; of torchaudio, the DataLoader and its worker; of librosa, its loop alone, in one process."""
import functools
import json
import os
import pathlib
import subprocess
import tarfile
import tempfile

from suite import peers
from suite.rounds import PATIENCE, Table, cpu_seconds, interleave
from support import sounds
from support.daemon_process import Daemon, stream_yaml
from support.tars import write_tar

PROGRAMS = ()
LOOPS = pathlib.Path(__file__).with_name("audio_loops.py")
BATCH = 50


def digits(folder):
    """A tar of the recordings of spoken digits, where ECHOLINE_TEST_DATA has them; else of made ones."""
    archive = pathlib.Path(os.environ.get("ECHOLINE_TEST_DATA", ""), "fsdd-wav.tar.xz")
    files = [(f"{number:04d}.wav", sounds.wav(number)) for number in range(3 * BATCH)]
    if archive.exists():
        with tarfile.open(archive) as tar:
            files = [(pathlib.Path(member.name).name, tar.extractfile(member).read())
                     for member in tar if member.name.endswith(".wav")]
    write_tar(folder / "digits.tar", files)
    return folder / "digits.tar"


def sentences(folder, count):
    files = [(f"{number:04d}.wav", sounds.wav(number, rate=16000, seconds=(8, 12))) for number in range(count)]
    write_tar(folder / "sentences.tar", files)
    return folder / "sentences.tar"


def measure_daemon(program, path, form):
    os.environ["ECHOLINED"] = str(program)
    steps = [f"read: {{url: {path}, format: webdataset}}", "shuffle: {window: all}",
             f"decode: {{audio: {{key: wav, as: audio, rate: {form['rate']}, max_seconds: 16}}}}",
             f"audio_crop: {{field: audio, seconds: {form['seconds']}}}",
             f"log_mel: {{field: audio, n_fft: {form['n_fft']}, hop: {form['hop']}, n_mels: {form['n_mels']}}}",
             f"batch: {{size: {BATCH}}}", "publish: {slots: 4}"]
    with Daemon(stream_yaml(steps), workers=1, memory="2GiB") as daemon:
        daemon.command("read", "train", "--batches", 1, "--json")
        before = cpu_seconds(daemon.process.pid)
        done = daemon.command("read", "train", "--epochs", form["epochs"], "--json", "--job", "measured")
        report = json.loads(done.stdout.splitlines()[-1])
        return report["samples"] / (cpu_seconds(daemon.process.pid) - before)


def measure_peer(find_python, loop, path, form):
    done = subprocess.run([find_python(), "-B", LOOPS, loop, path, json.dumps(form)], capture_output=True, check=True,
                          timeout=PATIENCE)
    report = json.loads(done.stdout.splitlines()[-1])
    return report["spectrograms"] / report["cpu_seconds"]


def table(title, path, form, options):
    ways = {"Echoline": functools.partial(measure_daemon, options.daemon, path, form)}
    torchaudio = functools.partial(peers.debian_python, "torchaudio", "python3-torchaudio")
    others = {"torchaudio in a DataLoader": functools.partial(measure_peer, torchaudio, "torchaudio", path, form),
              f"librosa ({peers.version('librosa', 'librosa')})": functools.partial(
                  measure_peer, functools.partial(peers.python, "librosa"), "librosa", path, form)}
    ways |= {name: way for name, way in others.items() if options.wants(name)}
    return Table(title, "spectrograms per CPU-second", interleave(ways, options.rounds).rows(), ("Echoline",))


def measure(options):
    digit = {"rate": 8000, "seconds": 1, "n_fft": 256, "hop": 80, "n_mels": 40, "epochs": 1 if options.quick else 10}
    sentence = {"rate": 16000, "seconds": 8, "n_fft": 400, "hop": 160, "n_mels": 80,
                "epochs": 1 if options.quick else 20}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        return [table("Spoken digits of one second, 8 kHz", digits(folder), digit, options),
                table("Sentences of 8 seconds, 16 kHz", sentences(folder, 2 * BATCH), sentence, options)]
