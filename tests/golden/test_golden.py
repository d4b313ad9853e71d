"""Files of every format that was ever written still open, and still say the same."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from calls import CALLS

import mien
from mien.errors import ModelFormatError
from mien.files import REGISTRY
from mien.files._container import read_container
from mien.files._renames import RENAMES, Renamed, rename
from mien.gallery import Gallery
from tests.near import assert_near

FOLDER = Path(__file__).parent / "format1"
EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
GALLERIES = {
    number: json.loads(
        (FOLDER.parent / f"format{number}" / "galleries.json").read_text(encoding="utf-8")
    )
    for number in (1, 2)
}
NAMED = [
    (number, name) for number, held in GALLERIES.items() for name in held if "answers" in held[name]
]

# Files may hold estimators of an older scikit-learn.
pytestmark = pytest.mark.filterwarnings("ignore:.*holds estimators of:mien.errors.MienWarning")


def _array(held: list[Any]) -> np.ndarray:
    return np.asarray(held[0]).reshape(held[1])


# Not read any more: its compiled code trusts the arrays of the file.
REFUSED = EXPECTED.pop("sklearn-SVC")


def test_a_support_vector_machine_is_refused() -> None:
    assert REFUSED["outputs"]
    with pytest.raises(ModelFormatError, match=r"sklearn\.SVC.*does not read"):
        mien.load(FOLDER / "sklearn-SVC.mien")


@pytest.mark.parametrize("name", EXPECTED)
def test_a_golden_model_gives_what_it_gave(name: str) -> None:
    model = mien.load(FOLDER / f"{name}.mien")
    given = {key: _array(held) for key, held in EXPECTED[name]["inputs"].items()}
    made = CALLS[name](model, given)
    assert set(made) == set(EXPECTED[name]["outputs"])
    for key, held in EXPECTED[name]["outputs"].items():
        wanted, got = _array(held), np.asarray(made[key])
        assert got.shape == wanted.shape
        if wanted.dtype.kind == "f":
            size = np.abs(wanted).max(initial=1e-3)
            np.testing.assert_allclose(got, wanted, rtol=2e-4, atol=2e-4 * size, err_msg=key)
        else:
            assert got.tolist() == wanted.tolist(), key


@pytest.mark.parametrize("name", EXPECTED)
def test_a_golden_model_written_again_is_the_same(name: str, tmp_path: Path) -> None:
    given = {key: _array(held) for key, held in EXPECTED[name]["inputs"].items()}
    model = mien.load(FOLDER / f"{name}.mien")
    again = mien.load(mien.save(model, tmp_path / "again.mien"))
    first, second = CALLS[name](model, given), CALLS[name](again, given)
    for key in first:
        if np.asarray(first[key]).dtype.kind == "f":
            assert_near(second[key], first[key], digits=6)
        else:
            assert np.array_equal(second[key], first[key])


def _names(node: Any) -> set[str]:
    if isinstance(node, list):
        return {name for item in node for name in _names(item)}
    if not isinstance(node, dict):
        return set()
    found = {node["class"]} if node.get("$") in ("estimator", "statistics") else set()
    return found | {name for item in node.values() for name in _names(item)}


def test_every_class_of_format_1_is_golden_and_leads_to_a_class_of_today() -> None:
    seen: set[str] = set()
    for path in FOLDER.glob("*.mien"):
        with open(path, "rb") as file:
            seen |= _names(json.loads(read_container(file, path.name, 2**30).document))
    assert len(seen) == 56
    for name in seen - {"sklearn.SVC"}:
        today = name
        for number in sorted(RENAMES):
            change = RENAMES[number].get(today)
            today = today if change is None else change.name
        assert today in REGISTRY, name


def test_renaming_goes_through_every_format(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RENAMES, 1, {"mien.A": Renamed("mien.B", {"x": "y", "old": None})})
    monkeypatch.setitem(
        RENAMES,
        2,
        {
            "mien.B": Renamed(
                "mien.C", {"y": "z"}, {"a_": "b_"}, lambda p, s: (p, s | {"twice_": 2 * p["z"]})
            )
        },
    )
    params, state = {"x": 3, "old": 4, "kept": 5}, {"a_": 1}
    assert rename(1, 3, "mien.A", params, state) == (
        "mien.C",
        {"z": 3, "kept": 5},
        {"b_": 1, "twice_": 6},
    )
    assert rename(3, 3, "mien.A", params, state) == ("mien.A", params, state)
    assert rename(2, 3, "mien.A", params, state)[0] == "mien.A"


@pytest.mark.parametrize("read_only", [False, True], ids=["upgraded", "read-only"])
@pytest.mark.parametrize(("number", "name"), NAMED)
def test_a_golden_gallery_opens_and_names_the_same_people(
    number: int, name: str, read_only: bool, tmp_path: Path
) -> None:
    held = GALLERIES[number]
    wanted, probes = held[name], np.asarray(held["probes"])
    for path in (FOLDER.parent / f"format{number}").glob(f"{name}.gallery*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
        (tmp_path / path.name).chmod(0o600)
    place = tmp_path / f"{name}.gallery"
    before = place.read_bytes()
    key = held["key"] if wanted["sealed"] else None
    with Gallery.open(place, key=key, read_only=read_only) as gallery:
        assert gallery.sealed == wanted["sealed"]
        # Read only, an index of an older format is left where it is.
        assert [f for f in gallery.check() if not (read_only and "an index lies" in f)] == []
        assert [[p.name, p.templates] for p in gallery.people()] == wanted["people"]
        log = [[e.action, e.people, e.templates] for e in gallery.audit()]
        assert log[: len(wanted["audit"])] == wanted["audit"]
        for search in ("exact", "approximate"):
            found = gallery.identify(probes, fpir=0.1, search=search, impostors="strangers")
            assert [a.person for a in found] == [person for person, _ in wanted["answers"]]
            ratios = [ratio for _, ratio in wanted["answers"]]
            np.testing.assert_allclose([a.log_ratio for a in found], ratios, atol=2e-3)
    assert (place.read_bytes() == before) == read_only


@pytest.mark.parametrize("number", GALLERIES)
@pytest.mark.parametrize("name", ["plain", "sealed"])
def test_a_golden_export_is_taken_in(number: int, name: str, tmp_path: Path) -> None:
    held = GALLERIES[number]
    wanted = held[name]
    key = held["key"] if wanted["sealed"] else None
    source = FOLDER.parent / f"format{number}" / f"{name}.export.mien"
    with Gallery.import_from(source, tmp_path / "new.gallery", key=key) as gallery:
        assert [[p.name, p.templates] for p in gallery.people()] == wanted["people"]
        found = gallery.identify(np.asarray(held["probes"]), fpir=0.1, impostors="strangers")
        assert [a.person for a in found] == [person for person, _ in wanted["answers"]]
