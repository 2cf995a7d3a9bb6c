"""Tar archives from bytes in memory."""
import io
import tarfile


def write_tar(path, files):
    """`files`: (name, bytes), in this order."""
    with tarfile.open(path, "w") as tar:
        for name, content in files:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
