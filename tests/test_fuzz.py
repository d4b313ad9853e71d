"""What strangers may write into small files, by hypothesis and from the corpus of findings.

``tests/corpus/<reader>/`` holds what once went wrong, or nearly: every run reads all of it. An
ordinary run tries few more inputs, always the same; ``make fuzz`` tries many, others each time.
"""

from __future__ import annotations

import json
import os
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("hypothesis")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image

from mien._core.rows import check_rows
from mien._core.validation import check_array, check_labels
from mien.errors import DataError, InputError, MienError
from mien.media import NamedRegion, read_names, write_sidecar
from mien.sparse._checkpoint import read_state

CORPUS = Path(__file__).parent / "corpus"
MANY = int(os.environ.get("MIEN_FUZZ", "0"))
fuzz = settings(
    max_examples=200 * MANY if MANY else 15,
    derandomize=not MANY,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def album(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("album")
    Image.new("RGB", (40, 30)).save(folder / "IMG_1.jpg")
    return folder


def _check_words(error: Exception) -> None:
    words = str(error)
    assert "\n" not in words
    assert len(words) < 600


def _read_album(album: Path, name: str, content: bytes) -> None:
    """Names are read, or the file is left out with one sentence."""
    place = album / name
    place.write_bytes(content)
    try:
        pictures, left_out = read_names(place if name.endswith(".csv") else album)
    except DataError as error:
        _check_words(error)
        return
    finally:
        place.unlink()
    for picture in pictures:
        for region in picture.regions:
            assert all(np.isfinite(region.box))
            assert min(region.box) >= 0
            assert max(region.box) <= 1 + 1e-9
    assert all("\n" not in reason and len(reason) < 600 for _, reason in left_out)


def _read_checkpoint(album: Path, name: str, content: bytes) -> None:
    place = album / name
    place.write_bytes(content)
    try:
        state = read_state(place, {"n_atoms": 3})
        assert state is None or np.all(np.isfinite(state.atoms))
    except MienError as error:
        _check_words(error)
    finally:
        place.unlink()


def _read_journal(album: Path, name: str, content: bytes) -> None:
    """A result with a right check sum is a result, or one sentence."""
    journal = pytest.importorskip("mien.faces._journal")
    picture = album / "IMG_1.jpg"
    try:
        value = json.loads(content)
        value["stamp"] = journal.stamp(picture)
        value["result"]["path"] = str(picture)
    except (KeyError, TypeError, ValueError):
        return
    text = json.dumps(value).encode()
    asked = {"engine": "sface"}
    place = album / name
    with journal.Journal(place, asked):
        pass
    with open(place, "ab") as file:
        file.write(b"%08x %s\n" % (zlib.crc32(text), text))
    try:
        with journal.Journal(place, asked) as book:
            found = book.find(picture)
        assert found is None or all(np.all(np.isfinite(face.vector)) for face in found.faces)
    except DataError as error:
        _check_words(error)
    finally:
        place.unlink()


#: reader -> name of the file, and what reads it
READERS: dict[str, tuple[str, Callable[[Path, str, bytes], None]]] = {
    "checkpoint": ("state.npz", _read_checkpoint),
    "contacts": ("contacts.xml", _read_album),
    "journal": ("run.journal", _read_journal),
    "picasa": (".picasa.ini", _read_album),
    "table": ("table.csv", _read_album),
    "takeout": ("IMG_1.jpg.supplemental-metadata.json", _read_album),
    "xmp": ("IMG_1.jpg.xmp", _read_album),
}
_KEPT = sorted(
    (file.parent.name, file.name) for file in CORPUS.glob("*/*") if file.parent.name in READERS
)


def _good(reader: str) -> list[bytes]:
    return [(CORPUS / kind / name).read_bytes() for kind, name in _KEPT if kind == reader]


@pytest.mark.parametrize(("reader", "name"), _KEPT)
def test_corpus(album: Path, reader: str, name: str) -> None:
    place, read = READERS[reader]
    read(album, place, (CORPUS / reader / name).read_bytes())


@pytest.mark.parametrize("reader", READERS)
def test_readers(album: Path, reader: str) -> None:
    place, read = READERS[reader]
    pieces = st.one_of(
        st.binary(max_size=40),
        st.text(max_size=20).map(lambda text: text.encode("utf-8", "surrogatepass")),
        st.sampled_from([b"<a>" * 300, b"[" * 300, b"9" * 300, b"&x;", b"NaN", b"\0", b"-1e999"]),
    )

    @fuzz
    @given(st.data())
    def run(data: st.DataObject) -> None:
        content = data.draw(st.sampled_from(_good(reader)))
        at = data.draw(st.integers(0, len(content)))
        until = min(len(content), at + data.draw(st.integers(0, 30)))
        read(album, place, content[:at] + data.draw(pieces) + content[until:])

    run()


_ANY_ARRAY = hnp.arrays(
    st.one_of(
        hnp.floating_dtypes(),
        hnp.integer_dtypes(),
        hnp.complex_number_dtypes(),
        hnp.datetime64_dtypes(),
        hnp.unicode_string_dtypes(max_len=3),
        hnp.boolean_dtypes(),
    ),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)


@fuzz
@given(_ANY_ARRAY)
def test_rows_are_safe_or_refused(array: np.ndarray) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            rows = check_rows(array, dtype=[np.float64, np.float32])
        except InputError as error:
            _check_words(error)
            return
    assert rows.ndim == 2
    assert np.all(np.isfinite(rows))
    sizes = np.abs(rows[rows != 0])
    assert np.all((sizes >= 0.9e-15) & (sizes <= 1.1e15))
    with np.errstate(all="raise"):
        assert np.isfinite(np.sum(np.square(rows)))


@fuzz
@given(_ANY_ARRAY)
def test_arrays_are_safe_or_refused(array: np.ndarray) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = check_array("numbers", array)
        except InputError as error:
            _check_words(error)
            return
    assert np.all(np.isfinite(made))


@fuzz
@given(
    st.lists(
        st.one_of(
            st.none(), st.integers(), st.floats(), st.text(max_size=5), st.booleans(), st.binary()
        ),
        max_size=6,
    )
)
def test_labels_are_labels_or_refused(labels: list[Any]) -> None:
    try:
        made = check_labels("people", labels, missing="unknown")
    except InputError as error:
        _check_words(error)
        return
    assert made.dtype.kind in "iubU"
    assert made.shape == (len(labels),)


@fuzz
@given(
    st.text(min_size=1, max_size=30),
    st.tuples(
        *[st.floats(0.0, 0.4), st.floats(0.0, 0.4), st.floats(0.05, 0.5), st.floats(0.05, 0.5)]
    ),
)
def test_names_survive_a_sidecar(name: str, box: tuple[float, float, float, float]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "a.png"
        Image.new("RGB", (8, 8)).save(picture)
        try:
            write_sidecar(picture, [NamedRegion(name, box)])
        except MienError as error:
            _check_words(error)
            return
        read = read_names(Path(folder))[0][0]
        assert [region.name for region in read.regions] in ([name.strip()], [name], [None], [])
