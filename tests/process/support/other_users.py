"""The command line as other users of the host run it. Only root can do that."""
import os
import shutil

from support.programs import binary, run_echoline, skip


def require_root():
    """Skips the whole program where this is not possible."""
    if os.geteuid() != 0:
        skip("only root can act as other users")
    if not os.environ.get("ECHOLINE_CLIENT"):
        skip("ECHOLINE_CLIENT names no libecholine.so")


def copy_programs(daemon):
    """Puts the programs where other users can reach them: the build folder may be closed to them."""
    daemon.folder.chmod(0o755)
    shutil.copy(binary("ECHOLINE_CLI"), daemon.folder / "echoline")
    shutil.copy(os.environ["ECHOLINE_CLIENT"], daemon.folder / "libecholine.so.0")


def run_as(daemon, uid, *arguments, group=None, groups=()):
    """A finished run of `echoline ARGUMENTS` on the daemon as this user; copy_programs() first."""
    return run_echoline(*arguments, "--runtime-dir", daemon.runtime_dir, program=daemon.folder / "echoline", cwd="/",
                        user=uid, group=uid if group is None else group, extra_groups=groups,
                        environment={"LD_LIBRARY_PATH": str(daemon.folder)})
