"""Shards of short recordings, made with Python's own writer of WAV files."""
import io
import math
import pathlib
import random
import struct
import wave

from support.tars import write_tar


def wav(seed, rate=8000, seconds=(0.2, 0.8)):
    """The bytes of a tone with noise, whose pitch and length depend on `seed`."""
    draw = random.Random(seed)
    pitch, loudness = draw.uniform(0.02, 0.4), draw.uniform(3000, 12000)
    samples = [int(loudness * math.sin(pitch * i) + draw.uniform(-500, 500))
               for i in range(int(rate * draw.uniform(*seconds)))]
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setparams((1, 2, rate, 0, "NONE", ""))
        file.writeframes(struct.pack(f"<{len(samples)}h", *samples))
    return out.getvalue()


def made_shards(folder, shards=3, records=20):
    """Paths of new shards; a record has the files wav and cls."""
    paths = []
    for shard in range(shards):
        files = []
        for record in range(records):
            seed = shard * records + record
            files += [(f"{record:04d}.wav", wav(seed)), (f"{record:04d}.cls", str(seed % 10).encode())]
        paths.append(pathlib.Path(folder, f"sounds-{shard:06d}.tar"))
        write_tar(paths[-1], files)
    return paths
