"""Films of the command line and of the page for the front page: rendered people, real commands.

``python docs/make_film.py`` writes docs/_static/film_terminal.gif and docs/_static/film_page.gif;
``terminal`` or ``page`` as an argument writes one of them. The page needs Chromium and playwright.
Everything that is shown was printed or drawn by the program in this run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

STATIC = Path(__file__).parent / "_static"
MOST_BYTES = 1_500_000

COMMANDS = (
    ("mien data make album && cd album", "album"),
    ("mien enrol photos --gallery people.gallery", "album"),
    ("mien identify party.jpg --gallery people.gallery --out named", "album"),
)
COLUMNS, ROWS, SIZE, MARGIN = 84, 20, 15, 14
BACK, INK, PROMPT, FAINT = "#16181d", "#e6e6e6", "#7fd18b", "#8f96a3"
MIEN = "import sys; from mien.cli import main; sys.argv[0] = 'mien'; main()"

Frame = tuple[Image.Image, int]


# ------------------------------------------------------------------------ the command line


def run_commands(place: Path) -> Iterator[tuple[str, list[str]]]:
    """Each command with the lines that it prints."""
    folder = place
    python = os.pathsep.join([str(Path(__file__).parents[1] / "src"), *sys.path])
    environment = os.environ | {"COLUMNS": str(COLUMNS), "NO_COLOR": "1", "PYTHONPATH": python}
    for words, then in COMMANDS:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", MIEN, *words.partition(" &&")[0].split()[1:]],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=True,
        )
        lines = [line.rstrip() for line in done.stdout.splitlines()]
        yield words, [part for line in lines for part in _wrap(line)]
        folder = place / then


def _wrap(line: str) -> list[str]:
    return [line] if len(line) <= COLUMNS else textwrap.wrap(line, COLUMNS)


class _Terminal:
    """Lines of a terminal as pictures."""

    def __init__(self) -> None:
        import matplotlib

        fonts = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
        self.font = ImageFont.truetype(str(fonts / "DejaVuSansMono.ttf"), SIZE)
        self.step = self.font.getlength("m")
        self.height = SIZE + 5
        self.size = (round(COLUMNS * self.step) + 2 * MARGIN, ROWS * self.height + 2 * MARGIN)
        self.lines: list[tuple[str, str]] = []

    def draw(self, typed: str | None = None) -> Image.Image:
        """The last lines; ``typed`` stands at a prompt with a cursor."""
        picture = Image.new("RGB", self.size, BACK)
        pen = ImageDraw.Draw(picture)
        shown = [*self.lines, *([("$ " + typed + "▌", INK)] if typed is not None else [])]
        for row, (line, colour) in enumerate(shown[-ROWS:]):
            at = (MARGIN, MARGIN + row * self.height)
            pen.text(at, line, font=self.font, fill=colour)
            if line.startswith("$ "):
                pen.text(at, "$", font=self.font, fill=PROMPT)
        return picture


def film_terminal() -> list[Frame]:
    """Typing, answers, and the picture that was written at the end."""
    terminal, frames = _Terminal(), []
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for words, lines in run_commands(place):
            frames += [(terminal.draw(words[:end]), 60) for end in range(0, len(words), 3)]
            frames.append((terminal.draw(words), 500))
            terminal.lines.append(("$ " + words, INK))
            for line in lines:
                terminal.lines.append((line, FAINT))
                frames.append((terminal.draw(), 60))
            frames.append((terminal.draw(""), 1300))
            terminal.lines.append(("", INK))
        written = next((place / "album" / "named").glob("*party.png"))
        with Image.open(written) as picture:
            last = _fit(picture.convert("RGB"), terminal.size)
    # The result comes first as well: where films do not play, it is what is seen.
    return [(last, 1500), *frames, (last, 4000)]


def _fit(picture: Image.Image, size: tuple[int, int]) -> Image.Image:
    """A picture as large as it goes in the middle of a frame."""
    scale = min(size[0] / picture.width, size[1] / picture.height)
    small = picture.resize((round(picture.width * scale), round(picture.height * scale)))
    frame = Image.new("RGB", size, BACK)
    frame.paste(small, ((size[0] - small.width) // 2, (size[1] - small.height) // 2))
    return frame


# ------------------------------------------------------------------------ the page


def film_page() -> list[Frame]:
    """People, a person, two answers, strangers, and a photograph with names."""
    import io

    from make_screenshots import serving

    frames: list[Frame] = []
    with serving((1000, 720)) as page:

        def shoot(wait: int, milliseconds: int) -> None:
            page.wait_for_timeout(wait)
            with Image.open(io.BytesIO(page.screenshot())) as picture:
                small = picture.convert("RGB").resize((800, 576), Image.Resampling.LANCZOS)
            frames.append((small, milliseconds))

        def go(view: str) -> None:
            page.evaluate("place => { location.hash = place; }", f"#/{view}")
            page.wait_for_selector(".waiting", state="detached", timeout=60_000)

        page.wait_for_selector(".card")
        shoot(1500, 1800)
        go("person/1")
        shoot(1200, 1600)
        go("review")
        shoot(1200, 1600)
        for _ in range(2):  # two people with names of their own: different
            page.keyboard.press("n")
            shoot(900, 1000)
        page.locator(".toast button").last.click()
        go("unknown")
        shoot(1200, 1600)
        listed = "/v1/galleries/people/faces?limit=1000"
        said = page.evaluate("async (listed) => (await fetch(listed)).json()", listed)
        faces = (one["id"] for one in said["faces"] if str(one["picture"]).endswith("picnic.jpg"))
        go(f"photo/{next(faces)}")
        shoot(1500, 4000)
    return frames


# ------------------------------------------------------------------------ files


def write_film(frames: Sequence[Frame], file: Path, colours: int) -> None:
    """A GIF that plays for ever, with one palette, so that only what changes is stored."""
    pictures, times = [picture for picture, _ in frames], [time for _, time in frames]
    width, height = pictures[0].size
    sheet = Image.new("RGB", (width, height * min(len(pictures), 8)))
    chosen = pictures[:: max(1, len(pictures) // 7)][-8:]
    for row, picture in enumerate([*chosen[:7], pictures[-1]]):
        sheet.paste(picture, (0, row * height))
    palette = sheet.quantize(colours)
    small = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in pictures]
    small[0].save(
        file, save_all=True, append_images=small[1:], duration=times, loop=0, optimize=True
    )
    if file.stat().st_size > MOST_BYTES:
        raise SystemExit(f"{file.name} has {file.stat().st_size:,} bytes, more than {MOST_BYTES:,}")
    print(f"{file.name}: {len(frames)} frames, {sum(times) / 1000:.0f} s, {file.stat().st_size:,}")


def main(names: Sequence[str]) -> None:
    films = {"terminal": (film_terminal, 96), "page": (film_page, 128)}
    for name in names or films:
        make, colours = films[name]
        write_film(make(), STATIC / f"film_{name}.gif", colours)


if __name__ == "__main__":
    main(sys.argv[1:])
