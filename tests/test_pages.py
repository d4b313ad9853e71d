"""Every Python block of the README and of the pages runs, in order, as a reader would run it.

A page is one program: its blocks share their names. A comment before a block says what it needs:

    <!-- needs: photographs -->     the album of `mien data make`, in the working folder
    <!-- needs: data -->            the real data sets (MIEN_DATA)
    <!-- needs: database -->        a server of the reader's own: the block is compiled only
    <!-- needs: scheduler -->       a Dask cluster of the reader's own: the block is compiled only

Nothing else is prepared, so that nothing on a page is unexplained.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from markdown_it import MarkdownIt

from mien.datasets import make_album
from tests.extras import missing_extra

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# The shell and the Python of a tutorial are one program: tools/follow.py runs it.
ELSEWHERE = {"_build", "auto_examples", "tutorials"}
PAGES = [page for page in PAGES if not ELSEWHERE & set(page.parts)]
#: Blocks that are compiled only: what they talk to is the reader's own.
COMPILED = {"database", "scheduler"}
NEEDS = {"photographs", "data"} | COMPILED


class Block(NamedTuple):
    code: str
    line: int
    needs: str


def _blocks(page: Path) -> Iterator[Block]:
    """The Python blocks of a page with their lines, and what the comment before each asks for."""
    needs = ""
    for token in MarkdownIt().parse(page.read_text(encoding="utf-8")):
        if token.type == "html_block":
            found = re.search(r"<!-- needs: (\w+) -->", token.content)
            needs = found.group(1) if found else ""
        elif token.type == "fence" and token.info.split(" ")[0] in {"python", "py", "python3"}:
            assert token.map is not None
            yield Block(token.content, token.map[0] + 1, needs)
            needs = ""


WITH_BLOCKS = [page for page in PAGES if any(_blocks(page))]


@pytest.fixture(scope="session")
def album(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_album(
        tmp_path_factory.mktemp("pages") / "album",
        n_people=6,
        n_strangers=1,
        n_named=3,
        n_unsorted=2,
    )


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    "page", WITH_BLOCKS, ids=lambda page: str(page.relative_to(ROOT)).replace("/", "-")
)
def test_blocks_run_in_order(
    page: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    blocks = list(_blocks(page))
    needs = {block.needs for block in blocks} - {""}
    assert needs <= NEEDS, f"{page.name} asks for what is not known: {needs - NEEDS}"
    place = tmp_path
    if "photographs" in needs:
        if reason := missing_extra("faces", "gallery"):
            pytest.skip(reason)
        album = request.getfixturevalue("album")
        for path in album.iterdir():
            (tmp_path / path.name).symlink_to(path)
    if "data" in needs:
        monkeypatch.setenv("MIEN_DATA", str(request.getfixturevalue("data_home")))
    monkeypatch.chdir(place)
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks:
        # Empty lines before the code, so that a traceback names the line of the page.
        code = compile("\n" * block.line + block.code, str(page), "exec")
        if block.needs not in COMPILED:
            exec(code, names)
