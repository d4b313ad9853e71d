"""Build the wheel, check its contents and its metadata, and use it without the repository."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from tools.environments import ROOT, make_environment, run

NEEDED = (
    "mien/py.typed",
    "mien/faces/covered.npz",
    "mien/recognition/models/sface.mien",
    "mien/recognition/models/dlib.mien",
    "mien/recognition/models/sface+dlib.mien",
    "mien/recognition/models/completion.mien",
    "mien/service/page/index.html",
    "mien/service/page/style.css",
    "mien/service/page/app.js",
    "mien/service/page/vendor/preact.js",
)
SUFFIXES = {".py", ".pyi", ".typed", ".npz", ".mien", ".html", ".css", ".js", ".svg", ".txt"}
MOST_BYTES = 12_000_000

# Every name of every door is there, or says in one sentence which extra it needs.
IMPORTS = """
import importlib, pathlib, sys
import mien
assert pathlib.Path(mien.__file__).is_relative_to(sys.prefix), mien.__file__
from mien.errors import MissingDependencyError
for room in sys.argv[1:]:
    module = importlib.import_module(f"mien.{room}")
    for name in getattr(module, "__all__", ()):
        try:
            getattr(module, name)
        except MissingDependencyError as error:
            assert "pip install 'mien[" in str(error) and "\\n" not in str(error), error
            print(f"mien.{room}.{name}: {error}")
"""
PICTURES = """
import sys
import numpy as np
from mien.datasets import make_faces
from mien.media import write_image
images = make_faces(2, 2, 112, colour=True, random_state=4).images
for k, image in enumerate(images):
    pixels = np.round(255 * image).astype(np.uint8)
    write_image(f"{sys.argv[1]}/{k}.png", np.pad(pixels, ((24, 24), (24, 24), (0, 0)), mode="edge"))
"""


class Refused(Exception):
    """The wheel is not as it should be."""


def expect(condition: object, words: str) -> None:
    if not condition:
        raise Refused(words)


def build(folder: Path) -> Path:
    """Build the wheel from what Git knows, so that no file of this checkout slips in."""
    source = folder / "source"
    listed = run(["git", "ls-files"], cwd=ROOT)
    expect(listed.returncode == 0, f"git ls-files: {listed.stdout}")
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, source / name)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
    done = run([*command, "--no-deps", "--wheel-dir", str(folder / "dist"), str(source)])
    expect(done.returncode == 0, f"the build failed:\n{done.stdout[-3000:]}")
    (wheel,) = (folder / "dist").glob("mien-*.whl")
    return wheel


def check_contents(wheel: Path) -> list[str]:
    """Refuse missing and foreign files; return the packages inside."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
        about = metadata.removesuffix("METADATA")
        licences = {name.removeprefix(about) for name in names}
    missing = [name for name in NEEDED if name not in names]
    expect(not missing, f"missing in the wheel: {missing}")
    expect({"licenses/LICENSE", "licenses/NOTICE"} <= licences, "LICENSE or NOTICE is missing")
    inside = [name for name in names if not name.startswith(about)]
    foreign = [
        name for name in inside
        if not name.startswith("mien/") or Path(name).suffix not in SUFFIXES
        or {"tests", "data", "__pycache__"} & set(Path(name).parts)
    ]  # fmt: skip
    expect(not foreign, f"does not belong into the wheel: {foreign}")
    sources = (ROOT / "src").rglob("*.py*")
    lost = [
        str(path) for path in sources
        if path.suffix in (".py", ".pyi") and path.relative_to(ROOT / "src").as_posix() not in names
        and run(["git", "ls-files", "--error-unmatch", str(path)], cwd=ROOT).returncode == 0
    ]  # fmt: skip
    expect(not lost, f"not packed: {lost}")
    size = wheel.stat().st_size
    expect(size <= MOST_BYTES, f"the wheel has {size:,} bytes, more than {MOST_BYTES:,}")
    print(f"{wheel.name}: {len(inside)} files, {size:,} bytes")
    rooms = {name.split("/")[1] for name in inside if name.count("/") > 1}
    return sorted(room for room in rooms if not room.startswith("_"))


def use(program: Path, *arguments: str, folder: Path) -> str:
    """Run in an empty folder and without the settings of this checkout."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "MIEN"))}
    start = time.monotonic()
    done = run([str(program), *arguments], cwd=folder, env=clean)
    what = " ".join([program.name, *(a if "\n" not in a else "..." for a in arguments)])
    expect(done.returncode == 0, f"{what} ended with {done.returncode}:\n{done.stdout[-3000:]}")
    print(f"  {what[:70]}: {time.monotonic() - start:.1f} s")
    return done.stdout


def check() -> None:
    """Build, read, install twice, use."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = build(folder)
        rooms = check_contents(wheel)
        tools = make_environment("twine", sys.executable, ["twine"])
        done = run([str(tools), "-m", "twine", "check", "--strict", str(wheel)])
        expect(done.returncode == 0, f"twine check: {done.stdout}")
        print("twine check: passed")
        empty = folder / "empty"
        empty.mkdir()
        for title, environment, extras in (
            ("no extra", "wheel", ""), ("all extras", "wheel-all", "[all]"),
        ):  # fmt: skip
            print(f"{title}:")
            python = _install(environment, wheel, extras)
            said = use(python, "-I", "-W", "error", "-c", IMPORTS, *rooms, folder=empty)
            print("".join(f"    {line}\n" for line in said.splitlines()), end="")
            expect(
                "usage" in use(python.with_name("mien"), "--help", folder=empty).lower(), "no help"
            )
        use(python, "-I", "-c", PICTURES, str(empty), folder=empty)
        answer = use(python.with_name("mien"), "verify", "0.png", "1.png", "--json", folder=empty)
        expect('"log_ratio"' in answer, f"mien verify said {answer}")
        use(python.with_name("mien"), "demo", "--out", "report", folder=empty)
        expect(any((empty / "report").iterdir()), "mien demo wrote nothing")


def _install(environment: str, wheel: Path, extras: str) -> Path:
    """An environment with the packages that the wheel needs, and this very wheel."""
    constraints = ROOT / "constraints.txt"
    python = make_environment(environment, sys.executable, [f".{extras}"], constraints=constraints)
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    command += ["--disable-pip-version-check", "--no-input"]
    done = run([*command, "--force-reinstall", "--no-deps", str(wheel)])
    expect(done.returncode == 0, f"the wheel cannot be installed: {done.stdout[-2000:]}")
    return python


def main() -> int:
    start = time.monotonic()
    try:
        check()
    except Refused as error:
        print(f"==== 1 failed in {time.monotonic() - start:.0f}s: {error} ====")
        return 1
    print(f"==== the wheel is good: built, read and used in {time.monotonic() - start:.0f}s ====")
    return 0


if __name__ == "__main__":
    sys.exit(main())
