"""The first hour with one's own photographs, walked and timed.

    python -m benchmarks.first_hour --work FOLDER                          # walk, print each step
    python -m benchmarks.first_hour --work FOLDER --page docs/first-hour.md

Twenty photographs of eight people, four pictures of parties, a film of nine seconds and a phone's
folder (HEIC, AVIF, a live photo, a burst, pictures that lie on their side, a torn file) are made of
the photographs of ``MIEN_DATA``; then every verb is run as a new process, as a user would. Steps
that are done are kept in the folder: a second run goes on where the first stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.data import find_data, run_command
from tools.tables import make_table, write_tables

RUN = "import sys; from mien.cli import main; sys.argv[0] = 'mien'; main()"


@dataclass(frozen=True)
class Step:
    """A command, which of its lines to show, and its exit code; ``do`` comes before it."""

    command: str
    show: str = ""
    code: int = 0
    do: str = ""


@dataclass(frozen=True)
class Done:
    """What a step said, and its seconds of processor and of the clock."""

    command: str
    said: str
    processor: float
    clock: float
    code: int
    expected: int


G = "--gallery people.gallery"
STEPS = (
    Step("mien verify photos/Obama/obama.jpg photos/Obama/obama2.jpg", "person"),
    Step("mien verify photos/Obama/obama.jpg phone/IMG_0002.HEIC", "pe"),
    Step("mien verify nosuch.jpg photos/Obama/obama.jpg", "nosuch", 2),
    Step("mien verify --pairs pairs.csv", "pairs"),
    Step(f"mien enrol photos {G}", "faces"),
    Step(f"mien people list {G}", "people"),
    Step(f"mien gallery check {G}", ""),
    Step(f"mien identify party phone film.mp4 {G} --remember --out named --every 5", "files", 1),
    Step(f"mien find Obama Biden {G} --page found", "picture"),
    Step(f"mien find Obma {G}", "Obma", 2),
    Step("mien cluster phone --out sorted", "people"),
    Step("mien enrol sorted --gallery sorted.gallery", "faces", do="rename"),
    Step("mien gallery undo --gallery sorted.gallery", ""),
    Step(f"mien adapt more {G}", "verifier"),
    Step(f"mien adapt --revert {G}", ""),
    Step(f"mien adapt --revert {G}", ""),
    Step("mien complete photos/Obama/obama.jpg --cover lower --out completed.png", ""),
    Step(f"mien export xmp photos {G} --keywords", "pictures"),
    Step(
        "mien evaluate scores.csv --score VGG-Face_cosine --score Facenet_cosine --same decision "
        "--distance --out judged"
    ),
    Step("mien demo --out demo", "report"),
)


def _exif(when: datetime) -> bytes:
    from PIL import Image

    exif = Image.Exif()
    exif[0x0110] = "A phone"
    exif.get_ifd(0x8769)[0x9003] = when.strftime("%Y:%m:%d %H:%M:%S")
    return exif.tobytes()


def make_files(work: Path) -> None:
    """The twenty photographs, the parties, the film and the phone's folder."""
    photos, figures = find_data("photos"), find_data("photos", "public_figures")
    film = find_data("video", "short_hamilton_clip.mp4")
    scores = find_data("scores", "four_systems_280_pairs.csv")

    from PIL import Image, ImageChops
    from pillow_heif import register_heif_opener

    register_heif_opener()
    for kind, start, stop in (("photos", 0, 3), ("more", 3, 7)):
        for person in sorted((photos / "five_people").iterdir()):
            place = work / kind / person.name.replace("_", " ")
            place.mkdir(parents=True)
            for file in sorted(person.iterdir())[start:stop]:
                shutil.copy(file, place)
    for name, files in {
        "Obama": ("obama.jpg", "obama2.jpg"),
        "Biden": ("biden.jpg", "train_biden_biden2.jpg"),
        "Lacamoire": ("alex-lacamoire.png",),
    }.items():
        (work / "photos" / name).mkdir()
        for one in files:
            shutil.copy(figures / one, work / "photos" / name)
    (work / "party").mkdir()
    for path in (
        figures / "test_obama_and_biden.jpg",
        figures / "two_people.jpg",
        photos / "group_photos" / "bald_guys.jpg",
        photos / "group_photos" / "dogs.jpg",
    ):
        shutil.copy(path, work / "party")
    shutil.copy(film, work / "film.mp4")

    phone = work / "phone"
    phone.mkdir()
    noon = datetime(2026, 6, 11, 12, 0, 0)

    def take(source: Path, name: str, seconds: float, turn: int = 0, shift: int = 0) -> None:
        with Image.open(source) as opened:
            image = opened.convert("RGB")
        image.thumbnail((800, 800))  # encoding HEIC is slow
        if shift:
            image = ImageChops.offset(image, shift, 0)
        if turn:
            image = image.rotate(turn, expand=True)
        image.save(phone / name, exif=_exif(noon + timedelta(seconds=seconds)), quality=90)

    take(figures / "test_obama1.jpg", "IMG_0001.HEIC", 0)
    take(figures / "train_rose_leslie_img1.jpg", "IMG_0002.HEIC", 600)
    take(figures / "test_alex_lacamoire1.jpg", "IMG_0003.HEIC", 1200)  # a live photo
    shutil.copy(film, phone / "IMG_0003.MOV")
    for k in range(3):  # a burst
        take(figures / "train_rose_leslie_img2.jpg", f"IMG_000{4 + k}.JPG", 1800 + k, shift=2 * k)
    take(figures / "test_kit_with_rose.jpg", "IMG_0007.AVIF", 2400)
    take(figures / "t_obama3.jpg", "IMG_0008.JPG", 3000, turn=90)
    take(figures / "train_biden_biden2.jpg", "IMG_0009.JPG", 3600, turn=180)
    torn = (figures / "biden.jpg").read_bytes()
    (phone / "IMG_0010.JPG").write_bytes(torn[: len(torn) // 40])
    (work / "pairs.csv").write_text(
        "a,b\n"
        "photos/Obama/obama.jpg,photos/Obama/obama2.jpg\n"
        "photos/Obama/obama.jpg,photos/Biden/biden.jpg\n"
        "photos/Biden/biden.jpg,phone/IMG_0009.JPG\n"
    )
    shutil.copy(scores, work / "scores.csv")


def _rename(work: Path) -> None:
    """Give the first folder that `mien cluster` wrote the name of a person."""
    first = work / "sorted" / "person-001"
    if first.is_dir():
        first.rename(work / "sorted" / "Rose")


def walk_step(step: Step, work: Path) -> Done:
    """Run one command in a new process."""
    if step.do == "rename":
        _rename(work)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", RUN, *step.command.split()[1:]],
        cwd=work, capture_output=True, text=True, env=os.environ | {"COLUMNS": "120"},
    )  # fmt: skip
    clock, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Done(
        step.command, choose_line(done.stdout + "\n" + done.stderr, step.show), processor, clock,
        done.returncode, step.code,
    )  # fmt: skip


def choose_line(text: str, word: str) -> str:
    """The first line with a word; the first line of all where there is none."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if word in line), lines[0] if lines else "")


def make_tables(found: Sequence[Done]) -> dict[str, str]:
    """The table of docs/first-hour.md."""
    rows = [
        (
            f"`{one.command}`",
            one.said.replace("|", "\\|"),
            f"{one.processor:.1f}",
            "as expected" if one.code == one.expected else f"{one.code}, expected {one.expected}",
        )
        for one in found
    ]
    total = sum(one.processor for one in found)
    rows.append(("together", f"{len(found)} commands", f"{total:.0f}", ""))
    head = ("command", "what it says first", "processor seconds", "exit code")
    return {"the first hour": make_table(head, rows)}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_hour", description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="Folder to walk in.")
    parser.add_argument("--page", type=Path, help="Page that gets the table; - prints it.")
    options = parser.parse_args(arguments)
    work: Path = options.work.resolve()
    state = work / "done.jsonl"
    if not (work / "pairs.csv").exists():
        for part in ("photos", "more", "party", "phone"):  # of a run that was cut off
            shutil.rmtree(work / part, ignore_errors=True)
        work.mkdir(parents=True, exist_ok=True)
        make_files(work)
    found: list[Done] = []
    if state.exists():
        found = [Done(**json.loads(line)) for line in state.read_text().splitlines()]
    for step in STEPS[len(found) :]:
        one = walk_step(step, work)
        found.append(one)
        with state.open("a") as file:
            file.write(json.dumps(asdict(one)) + "\n")
        mark = "" if one.code == one.expected else f" EXIT CODE {one.code}"
        print(f"{one.processor:6.1f} s  {one.command}{mark}\n          {one.said}", flush=True)
    if options.page is not None:
        tables: dict[str, Any] = make_tables(found)
        write_tables(options.page, tables)
    return int(any(one.code != one.expected for one in found))


if __name__ == "__main__":
    run_command(main)
