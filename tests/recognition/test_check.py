"""Rates of a gallery, tried on its own people."""

from __future__ import annotations

import numpy as np
import pytest

from mien.errors import InputError
from mien.gallery import Gallery
from mien.recognition import check_gallery, check_rates
from mien.verification import JointBayesian, Verifier

D = 24


def people(n, each, seed, camera=0.0):
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(n), each)
    X = rng.standard_normal((n, D))[who] + 0.5 * rng.standard_normal((n * each, D))
    X[:, 0] += camera
    return X / np.linalg.norm(X, axis=1, keepdims=True), who


@pytest.fixture(scope="module")
def verifier():
    X, y = people(400, 4, 0)
    model = JointBayesian(features="an example").fit(X[:800], y[:800])
    return Verifier(model, (1, 2, 3), probe_sizes=(1,), random_state=0).fit(X[800:], y[800:])


def test_many_people_support_a_rate_and_it_holds_when_tried(verifier):
    X, y = people(60, 3, 1)
    found = check_rates(verifier, X, y, fpirs=(0.05,))
    (rate,) = found.rates
    assert rate.promised is True
    assert rate.tried <= 0.1
    assert rate.tried_low <= rate.tried <= rate.tried_high
    assert 0.05 <= rate.bound <= 0.16
    assert rate.misses < 0.2
    stated, realised = np.array(found.traced).T
    assert np.all(np.diff(realised) >= 0)
    assert realised[-1] == pytest.approx(stated[-1], abs=0.2)
    assert found.advice() == []


def test_few_people_are_told_how_many_more_it_takes(verifier):
    X, y = people(5, 1, 2)
    found = check_rates(verifier, X, y, fpirs=(0.01,))
    (rate,) = found.rates
    assert rate.promised in ("shipped", False)
    assert rate.tried is None
    assert rate.misses is None
    assert found.traced == []
    assert rate.people_needed > 5
    first, unnamed, second = found.advice()
    assert "mien cluster" in unnamed
    assert f"{rate.people_needed - 5} more people" in first
    assert "second face" in second


def test_nobody_named_is_no_certainty(verifier):
    X, y = people(10, 2, 3)
    rate = check_rates(verifier, X, y, fpirs=(0.001,)).rates[0]
    assert rate.tried == 0
    assert rate.tried_high > 0.2


def test_another_camera_is_seen(verifier):
    near, far = (check_rates(verifier, *people(12, 2, 4, camera)) for camera in (0.0, 6.0))
    shifts = [found.calibration.evidence[-1].shift for found in (near, far)]
    assert shifts[1] > shifts[0] + 1


def test_the_page_has_a_diagram_and_the_numbers(verifier, tmp_path):
    pytest.importorskip("matplotlib")
    found = check_rates(verifier, *people(20, 2, 5))
    page = found.report().write(tmp_path).read_text(encoding="utf-8")
    assert "Reliability diagram" in page
    assert f"{found.people} people with {found.pictures} faces" in page
    assert found.to_dict()["rates"][0]["fpir"] == 0.01


def test_a_rate_must_be_one(verifier):
    with pytest.raises(InputError, match="fpir"):
        check_rates(verifier, *people(6, 2, 6), fpirs=(1.5,))


def test_a_gallery_is_checked_and_forgets_whom_it_deletes(verifier, tmp_path):
    X, y = people(9, 2, 7)
    path = tmp_path / "people.gallery"
    with Gallery.create(path, verifier) as gallery:
        names = [f"person {k}" for k in y]
        gallery.enrol_many(names, X, digests=[f"{i:064x}" for i in range(len(X))])
    found = check_gallery(path, fpirs=(0.05,))
    assert (found.people, found.pictures, found.faults) == (9, 18, [])
    assert found.comparisons == 18 * 8
    expected = check_rates(verifier, X, y, fpirs=(0.05,))
    assert found.rates[0].bound == pytest.approx(expected.rates[0].bound, rel=0.02)
    with Gallery.open(path) as gallery:
        gallery.delete("person 3")
    without = check_gallery(path, fpirs=(0.05,), impostors="strangers")
    assert without.people == 8
    assert without.comparisons == 16 * 7
    assert without.impostors == "strangers"
