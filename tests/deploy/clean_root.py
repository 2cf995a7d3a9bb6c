"""A clean Debian 12, or another system: debootstrap makes it once (kept in build/deploy), each test unpacks it and enters it
by chroot or boots it in a container. Needs root."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEPT = ROOT / "build" / "deploy"
UBUNTU = ["http://archive.ubuntu.com/ubuntu", "gutsy"]  # older debootstraps know the new releases not, but their script
# {name: the rest of debootstrap's command}
SYSTEMS = {"bookworm": ["bookworm"], "trixie": ["trixie"],
           **{release: [release, *UBUNTU] for release in ("jammy", "noble", "resolute")}}
PACKAGES = ROOT / "build" / "deb"
AUTHORITIES = "opt/authorities.pem"


def need(holds, what):
    if not holds:
        sys.exit(f"this test needs {what}")


def run(*command, check=True, **settings):
    """The output and errors of the command; AssertionError with all of it if the command fails."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **settings)
    if check and done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def build_packages():
    """Builds the packages with the command of docs/install.md; {package: file}."""
    need(shutil.which("lintian"), "lintian (apt-get install lintian)")
    shutil.rmtree(PACKAGES / "_CPack_Packages", ignore_errors=True)
    for stale in PACKAGES.glob("*.deb"):
        stale.unlink()
    run("cmake", "--workflow", "--preset", "deb", cwd=ROOT)
    return {path.name.split("_")[0]: path for path in PACKAGES.glob("*.deb")}


def make_base(system, kept):
    need(shutil.which("debootstrap"), "debootstrap (apt-get install debootstrap)")
    kept.parent.mkdir(parents=True, exist_ok=True)
    suite, *source = SYSTEMS[system]
    if len(source) == 2:
        source[1] = f"/usr/share/debootstrap/scripts/{source[1]}"
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        more = ["--components=main,universe"] if source else []
        run("debootstrap", "--variant=minbase", "--include=ca-certificates", *more, suite, f"{folder}/root", *source)
        run("tar", "-C", f"{folder}/root", "-cf", f"{folder}/tar", ".")
        os.rename(f"{folder}/tar", kept)


class CleanRoot:
    """`with CleanRoot() as root`: a fresh system in root.folder, removed at the end."""

    def __init__(self, system="bookworm"):
        self.system = system

    def __enter__(self):
        need(os.geteuid() == 0, "root")
        kept = KEPT / f"{self.system}.tar"
        if not kept.exists():
            make_base(self.system, kept)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="echoline-root-"))
        self.folder.chmod(0o755)
        run("tar", "-C", self.folder, "-xf", kept)
        shutil.copy("/etc/resolv.conf", self.folder / "etc/resolv.conf")
        # As in container images: the installation of packages starts no service.
        policy = self.folder / "usr/sbin/policy-rc.d"
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)
        # Behind a proxy with an authority of its own, pip needs it here, too.
        if "PIP_CERT" in os.environ:
            shutil.copy(os.environ["PIP_CERT"], self.folder / AUTHORITIES)
        run("mount", "-t", "proc", "proc", self.folder / "proc")
        return self

    def __exit__(self, *_):
        self.leave()
        shutil.rmtree(self.folder)

    def leave(self):
        """Ends the use by chroot, so that a container may boot it."""
        if os.path.ismount(self.folder / "proc"):
            run("umount", self.folder / "proc")

    def call(self, *command, check=True, **settings):
        """Runs a program inside as root, with a minimal environment."""
        clean = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8",
                 "DEBIAN_FRONTEND": "noninteractive"}
        if self.exists(AUTHORITIES):
            clean["PIP_CERT"] = f"/{AUTHORITIES}"
        return run("chroot", self.folder, *command, check=check, env=clean, **settings)

    def install(self, *packages):
        """Packages by name, or files of this system."""
        names = []
        for package in packages:
            if isinstance(package, pathlib.Path):
                shutil.copy(package, self.folder / "opt")
                package = f"/opt/{package.name}"
            names.append(package)
        self.call("apt-get", "-qq", "update")
        return self.call("apt-get", "-qq", "-y", "--reinstall", "--no-install-recommends", "install", *names)

    def write(self, path, text):
        place = self.folder / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    def exists(self, path):
        return os.path.lexists(self.folder / path.lstrip("/"))
