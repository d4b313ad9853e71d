"""Albums of Google Takeout, Picasa and digiKam: names go in, and come out as sidecars."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.trees import TREES, Outcome, draw_pictures, make_tables, try_tree

pytestmark = pytest.mark.needs("faces")


@pytest.mark.parametrize("name", TREES)
def test_names_go_in_and_come_out(name: str, data_home: Path, tmp_path: Path) -> None:
    people = data_home / "photos" / "five_people"
    if not people.is_dir():
        pytest.skip("the photographs of five people are not here")
    found = try_tree(name, draw_pictures(people, 4), tmp_path)
    assert found.told < found.faces
    assert found.taken_wrong == found.given_wrong == 0
    assert found.taken >= 0.6 * found.faces
    assert found.given >= 0.8 * found.faces
    assert found.unchanged
    assert found.exiv2 in (None, found.sidecars)
    if found.exiftool is None:
        pytest.skip("exiftool (Debian: libimage-exiftool-perl) is not installed")
    assert found.exiftool == found.sidecars


def test_the_table_says_what_went_wrong() -> None:
    (table,) = make_tables(
        {"Picasa": Outcome(8, 20, 17, 16, 1, 8, 18, 2, None, 7, False, 1.5)}
    ).values()
    assert (
        "| Picasa | 8, 20 | 17 | 16, 1 | 8 | 18, 2 | not installed | 7 of 8 | NO | 1.5 s |" in table
    )
