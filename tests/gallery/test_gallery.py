"""Enrolling, asking, renaming, merging: what a gallery promises in ordinary use."""

from __future__ import annotations

import stat
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from gallery_people import digest, draw_people, fill, make_verifier

from mien.errors import (
    GalleryError,
    InputError,
    MienWarning,
    MissingDependencyError,
    NotEnoughDataError,
    PerformanceWarning,
)
from mien.gallery import EnrolResult, Gallery, _search
from mien.gallery._exact import _best_columns
from mien.verification import Verifier

X = draw_people(40, 5, seed=9)


def test_a_picture_is_enrolled_once(gallery: Gallery) -> None:
    names = [digest("ann", i) for i in range(3)]
    assert gallery.enrol("Ann", X[0, :3], digests=names) == EnrolResult(3, 0)
    assert gallery.enrol("Ann", X[0, :3], digests=names) == EnrolResult(0, 3)
    more = [*names, digest("ann", 3)]
    assert gallery.enrol("Ann", X[0, :4], digests=more) == EnrolResult(1, 3)
    assert [(p.name, p.templates) for p in gallery.people()] == [("Ann", 4)]
    assert gallery.contains(names[0])
    assert not gallery.contains(digest("nobody"))


def test_one_face_belongs_to_one_person(gallery: Gallery) -> None:
    gallery.enrol("Ann", X[0, :1], digests=[digest("group")])
    with pytest.raises(InputError, match="belongs to 'Ann'"):
        gallery.enrol("Bob", X[1, :2], digests=[digest("bob"), digest("group")])
    # All or none: nothing of Bob is there, not even his name.
    assert [p.name for p in gallery.people()] == ["Ann"]
    assert not gallery.contains(digest("bob"))
    done = gallery.enrol("Bob", X[1, :1], digests=[digest("group")], faces=[1])
    assert done == EnrolResult(1, 0)


def test_twice_in_one_call_is_once(gallery: Gallery) -> None:
    result = gallery.enrol("Ann", X[0, :2], digests=[digest("a")] * 2)
    assert result == EnrolResult(1, 1)


def test_ratios_are_the_verifiers(gallery: Gallery, verifier: Verifier) -> None:
    sets = [X[i, : 1 + i % 4] for i in range(30)]
    for i, mine in enumerate(sets):
        gallery.enrol(f"person {i}", mine, digests=[digest(i, j) for j in range(len(mine))])
    probes = np.concatenate([X[:30, 4], X[30:, 0]])
    expected = verifier.score_sets([probe[None] for probe in probes], sets)
    for search in ("exact", "approximate"):
        found = gallery.identify(probes, search=search, top=30)
        for i, answer in enumerate(found):
            order = np.argsort(-expected[i])
            assert [name for name, _ in answer.candidates] == [f"person {j}" for j in order]
            got = [ratio for _, ratio in answer.candidates]
            np.testing.assert_allclose(got, expected[i][order], atol=2e-4)


def test_several_pictures_a_probe(gallery: Gallery, verifier: Verifier) -> None:
    fill(gallery, X[:30, :3])
    probes = [X[0, 3:], X[1, 4:], X[35, :2]]
    expected = verifier.score_sets(probes, list(X[:30, :3]))
    found = gallery.identify(probes, fpir=0.2)
    np.testing.assert_allclose([f.log_ratio for f in found], expected.max(axis=1), atol=1e-4)
    assert [f.person for f in found] == ["person 0", "person 1", None]


def test_a_stranger_is_unknown_at_the_stated_rate(tmp_path: Path) -> None:
    # Many strangers, so that the share of those who are named can be judged.
    verifier = make_verifier(seed=3)
    with Gallery.create(tmp_path / "g", verifier) as gallery:
        fill(gallery, draw_people(50, 2, seed=4))
        strangers = draw_people(2000, 1, seed=5)[:, 0]
        found = gallery.identify(strangers, fpir=0.1)
        named = sum(answer.person is not None for answer in found)
        # Three standard errors of 2,000 probes, and what 300 people of calibration leave open.
        assert 0.05 < named / 2000 < 0.14
        assert all(answer.promised for answer in found)
        known = gallery.identify(draw_people(50, 3, seed=4)[:, 2], fpir=0.1)
        assert all(0 <= answer.probability <= 1 for answer in known + found)


def test_a_rate_beyond_the_calibration_is_marked_or_refused(gallery: Gallery) -> None:
    fill(gallery, X[:, :1])
    (answer,) = gallery.identify(X[:1, 1], fpir=1e-6)
    assert not answer.promised
    with pytest.raises(NotEnoughDataError, match="lowest"):
        gallery.identify(X[:1, 1], fpir=1e-6, extrapolate=False)
    assert gallery.identify(X[:1, 1], fpir=0.5)[0].promised


def test_nobody_is_named_against_the_evidence(gallery: Gallery, verifier: Verifier) -> None:
    fill(gallery, X[:1, :1])
    assert verifier.threshold(0.5) < 0  # what the rate alone would ask of one person
    for found in gallery.identify(X[1:, 0], fpir=0.5):
        assert found.threshold == 0
        assert (found.person is None) == (found.log_ratio < 0)


def test_an_empty_gallery_knows_nobody(gallery: Gallery) -> None:
    (answer,) = gallery.identify(X[0, :1])
    assert answer.person is None
    assert answer.candidates == []
    with pytest.raises(InputError, match="fpir"):
        gallery.identify(X[0, :1], fpir=2.0)


def test_what_is_enrolled_is_found_without_a_new_index(gallery: Gallery) -> None:
    fill(gallery, X[:20, :2])
    for search in ("exact", "approximate"):
        assert gallery.identify(X[25:26, 4], search=search, fpir=0.2)[0].person is None
    fill(gallery, X[20:30, :2], first=20)
    gallery.enrol("person 3", X[3, 2:4], digests=[digest(3, 2), digest(3, 3)])
    for search in ("exact", "approximate"):
        found = gallery.identify(X[[25, 3], 4], search=search, fpir=0.2)
        assert [f.person for f in found] == ["person 25", "person 3"]
    gallery.delete("person 25")
    for search in ("exact", "approximate"):
        found = gallery.identify(X[[25, 3], 4], search=search, fpir=0.2, top=40)
        assert [f.person for f in found] == [None, "person 3"]
        assert "person 25" not in [name for name, _ in found[0].candidates]


def test_rename_and_merge(gallery: Gallery) -> None:
    fill(gallery, X[:6, :2])
    gallery.rename("person 1", "Zoë")
    assert gallery.identify(X[1:2, 4], fpir=0.2)[0].person == "Zoë"
    with pytest.raises(InputError, match="already"):
        gallery.rename("person 2", "Zoë")
    with pytest.raises(InputError, match="nobody"):
        gallery.rename("person 1", "Yann")
    assert gallery.merge("person 2", "person 3") == 2
    with pytest.raises(InputError, match="one person"):
        gallery.merge("person 3", "person 3")
    assert [p.templates for p in gallery.people() if p.name == "person 3"] == [4]
    assert len(gallery) == 5
    assert gallery.check() == []


def test_names_are_one_in_every_spelling(gallery: Gallery) -> None:
    gallery.enrol("Zoë", X[0, :1], digests=[digest(0)])
    gallery.enrol("  Zoe\u0308 ", X[0, 1:2], digests=[digest(1)])
    assert [(p.name, p.templates) for p in gallery.people()] == [("Zoë", 2)]
    for bad in ("", "  ", "a\nb", "x" * 201, "\x00"):
        with pytest.raises(InputError, match="name"):
            gallery.enrol(bad, X[0, :1], digests=[digest(2)])


@pytest.mark.parametrize(
    ("vectors", "digests", "match"),
    [
        (X[0, :2], [digest(1)], "one digest for each vector"),
        (X[0, :1], ["abc"], "64 hexadecimal"),
        (X[0, :1] * 0, [digest(1)], "is zero"),
        (X[0, :1] * np.nan, [digest(1)], "NaN"),
        (X[0, :1].astype(str), [digest(1)], "real numbers; got text"),
        (X[0, :1] * 1e30, [digest(1)], "scale them first"),
        (X[0, :1, :5], [digest(1)], "shape"),
        (X[0, :0], [], "no vectors"),
    ],
)
def test_bad_input_is_refused(gallery: Gallery, vectors, digests, match: str) -> None:
    with pytest.raises(InputError, match=match):
        gallery.enrol("Ann", vectors, digests=digests)
    assert len(gallery) == 0


def test_any_vectors_are_scaled_and_stand_for_their_own_pictures(gallery: Gallery) -> None:
    assert gallery.enrol("Ann", 40 * X[0, :2]).added == 2
    assert gallery.enrol("Ann", 40 * X[0, :2]).already == 2
    gallery.enrol("Bob", X[1, :2].astype(np.float64))
    first = gallery.identify(X[:2, 3], fpir=0.2)
    assert [found.person for found in first] == ["Ann", "Bob"]
    # Probes are scaled as well.
    for one, other in zip(first, gallery.identify(7.0 * X[:2, 3], fpir=0.2), strict=True):
        assert one.log_ratio == pytest.approx(other.log_ratio, abs=1e-4)


def test_names_that_look_alike_are_told_of(gallery: Gallery) -> None:
    gallery.enrol("Ann Oak", X[0, :1])
    gallery.enrol("Ann Oak", X[0, 1:2])
    with pytest.warns(MienWarning, match="looks like it"):
        gallery.enrol("\u0410nn Oak", X[1, :1])  # a Cyrillic letter
    for bad in ("Ann\u200b", "\u202eAnn", "Ann\u2060", "A\u034fnn", "\u3164", "Ann\x1b[2J"):
        with pytest.raises(InputError, match="name"):
            gallery.enrol(bad, X[2, :1])
    assert len(gallery) == 2
    gallery.rename("\u0410nn Oak", "Bea")
    for change in (
        lambda: gallery.add_person("Be\u0430"),
        lambda: gallery.rename("Ann Oak", "Be\u0430"),
        lambda: gallery.split([gallery.faces("Bea")[0].id], "Be\u0430"),
    ):
        with pytest.warns(MienWarning, match="looks like it"):
            change()
        gallery.undo()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gallery.rename("Bea", "Be\u0430")  # another spelling of one's own name
        gallery.delete("Be\u0430")
        gallery.add_person("Bea")  # nobody hears of who was deleted


def test_bad_questions_are_refused(gallery: Gallery) -> None:
    for probes in ([], "x", np.zeros((1, 16)), np.ones((2, 3))):
        with pytest.raises(InputError):
            gallery.identify(probes)
    with pytest.raises(InputError, match="search"):
        gallery.identify(X[0, :1], search="quick")
    with pytest.raises(InputError, match="top"):
        gallery.identify(X[0, :1], top=0)


def test_a_new_verifier_takes_over(gallery: Gallery, tmp_path: Path) -> None:
    fill(gallery, X[:10, :2])
    before = gallery.identify(X[:1, 4])[0].log_ratio
    reader = Gallery.open(gallery.path, read_only=True)
    assert reader.identify(X[:1, 4])[0].log_ratio == pytest.approx(before)
    other = make_verifier(seed=7)
    gallery.set_model(other)
    after = gallery.identify(X[:1, 4])[0].log_ratio
    expected = other.score_sets([X[0, 4:]], [X[0, :2]])[0, 0]
    assert after == pytest.approx(expected, abs=1e-4)
    assert after != pytest.approx(before)
    # Another process that has it open sees the same.
    assert reader.identify(X[:1, 4])[0].log_ratio == pytest.approx(after)
    reader.close()
    with pytest.raises(InputError, match="two engines"):
        gallery.set_model(make_verifier(features="another engine"))


def test_only_its_owner_reads_the_files(gallery: Gallery) -> None:
    fill(gallery, X[:3, :1])
    gallery.identify(X[:1, 4], search="approximate")
    gallery._search.save()
    files = sorted(gallery.path.parent.iterdir())
    assert {"people.gallery", "people.gallery-wal", "people.gallery-index"} <= {
        file.name for file in files
    }
    for file in files:
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_the_trail_has_no_names(gallery: Gallery) -> None:
    fill(gallery, X[:3, :2])
    gallery.enrol("Ann", X[3, :1], digests=[digest("a")], sources=["ann.jpg"], qualities=[0.5])
    gallery.delete_source(digest("a"))
    actions = [(e.action, e.people, e.templates) for e in gallery.audit()]
    assert actions == [
        ("create", 0, 0),
        ("enrol", 3, 6),
        ("enrol", 1, 1),
        ("delete", 1, 1),
        ("delete-source", 1, 1),
    ]
    assert len(gallery) == 3
    with pytest.raises(InputError, match="no face of the picture"):
        gallery.delete_source(digest("a"))


def test_a_closed_or_read_only_gallery_says_so(gallery: Gallery) -> None:
    fill(gallery, X[:3, :2])
    with Gallery.open(gallery.path, read_only=True) as reader:
        assert reader.identify(X[:1, 4], fpir=0.2)[0].person == "person 0"
        with pytest.raises(GalleryError, match="read_only"):
            reader.enrol("Ann", X[3, :1], digests=[digest("a")])
    with pytest.raises(GalleryError, match="closed"):
        reader.people()


def test_threads_share_one_gallery(gallery: Gallery) -> None:
    errors: list[BaseException] = []

    def work(first: int) -> None:
        try:
            for i in range(first, first + 8):
                gallery.enrol(f"person {i}", X[i, :2], digests=[digest(i, 0), digest(i, 1)])
                gallery.identify(X[i, 3:])
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(start,)) for start in (0, 8, 16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(gallery) == 24
    assert gallery.check() == []


@pytest.mark.needs("gallery")
def test_many_people_are_searched_by_the_graph(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(gallery, X[:30, :2])
    exact = gallery.identify(X[:30, 4])
    assert gallery._search._approximate is None
    monkeypatch.setattr(_search, "EXACT_LIMIT", 29)
    graph = gallery.identify(X[:30, 4])
    assert gallery._search._approximate is not None
    assert [a.person for a in graph] == [a.person for a in exact]
    # Without the package the answer is the same, and it is said that it took longer.
    gallery._search._approximate = None
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    with pytest.warns(PerformanceWarning, match=r"mien\[gallery\]"):
        assert gallery.identify(X[:30, 4]) == exact
    with pytest.raises(MissingDependencyError):
        gallery.identify(X[:1, 4], search="approximate")


def test_the_best_are_found_among_many_columns() -> None:
    scores = np.random.default_rng(0).standard_normal((5, 1037)).astype(np.float32)
    found = np.sort(_best_columns(scores, 7), axis=1)
    np.testing.assert_array_equal(found, np.sort(np.argsort(-scores, axis=1)[:, :7], axis=1))
