"""The people of a gallery calibrate it: on enrolment, in its file, and taken back on deletion."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gallery_people import digest, draw_people, fill

from mien.errors import GalleryDamagedError, InputError, NotEnoughDataError
from mien.gallery import FaceModel, Gallery
from mien.gallery._own_rates import OwnRates
from mien.recognition import check_gallery
from mien.verification import CameraModel, OwnCalibration, Verifier, calibrate_own, rate_per_person
from tests.near import assert_near

X = draw_people(60, 4, seed=11)


def test_it_is_that_of_the_enrolled_people(gallery: Gallery, verifier: Verifier) -> None:
    assert gallery.calibration.evidence == ()
    fill(gallery, X[:20, :3])
    vectors, numbers = gallery.sample_vectors()
    assert vectors.shape == (60, X.shape[2])
    assert np.bincount(numbers).max() == 3
    own = calibrate_own(gallery.model.verifier, vectors, numbers)
    assert gallery.calibration.to_dict() == own.to_dict()
    assert own.evidence[0].n_people == 20
    few, _ = gallery.sample_vectors(n_people=5, n_pictures=2)
    assert len(few) == 10


def test_a_deleted_person_is_taken_back(gallery: Gallery) -> None:
    fill(gallery, X[:12, :3])
    before = gallery.calibration.to_dict()
    digests = [digest("guest", i) for i in range(3)]
    gallery.enrol("Guest", X[30, :3], digests=digests)
    assert gallery.calibration.to_dict() != before
    gallery.delete("Guest")
    assert gallery.calibration.to_dict() == before


def test_it_is_kept_in_the_file(tmp_path: Path, verifier: Verifier, monkeypatch) -> None:
    path = tmp_path / "g"
    with Gallery.create(path, verifier) as gallery:
        fill(gallery, X[:12, :3])
        made = gallery.calibration.to_dict()
    with monkeypatch.context() as patched:
        patched.setattr(OwnRates, "_make", None)  # would be called
        for read_only in (True, False):
            with Gallery.open(path, read_only=read_only) as gallery:
                assert gallery.calibration.to_dict() == made
    with Gallery.open(path) as gallery:
        gallery._store.set_calibration('{"state": 3')
    with Gallery.open(path) as gallery, pytest.raises(GalleryDamagedError, match="calibration"):
        _ = gallery.calibration


def test_thresholds_and_promises_are_the_gallery_s_own(gallery: Gallery) -> None:
    fill(gallery, X[:40, :3])
    own, table = gallery.calibration, gallery.model.verifier.thresholds_
    (found,) = gallery.identify(X[:1, 3], fpir=0.002)
    rate = rate_per_person(0.002, 40)
    assert found.person is not None
    assert_near(found.threshold, max(own.threshold(table, rate, size=3), 0.0), digits=6, scale=1)
    promise = own.promise(rate)
    assert found.promised == promise.promised
    assert found.bound == pytest.approx(1 - (1 - promise.bound) ** 40)
    assert found.n_comparisons == own.evidence[0].n_comparisons > 1000
    careful, bold = (
        gallery.identify(X[:1, 3], fpir=0.05, impostors=kind)[0].threshold
        for kind in ("lookalikes", "strangers")
    )
    assert careful >= bold
    with pytest.raises(InputError, match="impostors"):
        gallery.identify(X[:1, 3], impostors="enemies")


def test_nothing_of_one_s_own_is_shipped_and_nothing_at_all_is_false(gallery: Gallery) -> None:
    gallery.enrol("Ann", X[0, :3], digests=[digest("ann", i) for i in range(3)])
    (found,) = gallery.identify(X[:1, 3], fpir=0.05)
    assert (found.promised, found.n_comparisons) == ("shipped", 0)
    assert found.bound > 0.05
    assert gallery.identify(X[:1, 3], fpir=1e-7)[0].promised is False
    with pytest.raises(NotEnoughDataError, match="not enough data to promise"):
        gallery.identify(X[:1, 3], fpir=1e-7, extrapolate=False)


def test_the_priors_are_those_of_the_card(verifier: Verifier) -> None:
    plain = FaceModel(None, verifier, {})
    assert plain.prior() == OwnCalibration.of("lookalikes").prior
    told = {"shift": 0.7, "log_stretch": 0.1, "shift_sd": 0.2}
    model = FaceModel(None, verifier, {"impostor priors": {"lookalikes": told}})
    assert model.prior().shift == 0.7
    assert model.prior("strangers") == plain.prior("strangers")
    table = verifier.thresholds_
    assert model.calibrate().threshold(table, 0.01) > plain.calibrate().threshold(table, 0.01)


def test_what_the_faces_show_of_their_camera_is_taken_back_as_well(
    tmp_path: Path, verifier: Verifier
) -> None:
    d = X.shape[2]
    camera = CameraModel(
        sizes=np.array([1, 3]), weights=np.ones((2, d)), offsets=np.full(2, 2.0),
        shift_sds=np.full(2, 0.25), face_sds=np.full(2, 0.2),
    )  # fmt: skip
    model = FaceModel(None, verifier, {"camera": camera.to_dict()})
    with Gallery.create(tmp_path / "g", model) as gallery:
        assert gallery.calibration.prior == model.prior()
        fill(gallery, X[:12, :3])
        own = gallery.calibration
        vectors, numbers = gallery.sample_vectors()
        assert own.prior == camera.expect(model.prior(), vectors, numbers)
        assert own.prior != model.prior()
        gallery.enrol("Guest", X[30, :3], digests=[digest("guest", i) for i in range(3)])
        assert gallery.calibration.prior != own.prior
        gallery.delete("Guest")
        assert gallery.calibration.to_dict() == own.to_dict()
    with Gallery.open(tmp_path / "g") as gallery:
        assert gallery.calibration.to_dict() == own.to_dict()
        checked = check_gallery(gallery)
    assert checked.people == 12
    damaged = FaceModel(None, verifier, {"camera": {"weights": [[1.0]]}})
    with pytest.raises(InputError, match="not a valid camera model"):
        _ = damaged.camera


def test_unnamed_faces_are_evidence_and_are_taken_back(tmp_path: Path, verifier: Verifier) -> None:
    path = tmp_path / "g"
    with Gallery.create(path, verifier) as gallery:
        fill(gallery, X[:6, :2])
        without = gallery.calibration
        crowd = X[20:50, 0]
        seen = gallery.observe(crowd, pictures=np.arange(30) // 3)
        assert (seen.n_faces, seen.n_people, int(seen.apart.sum())) == (30, 30, 30)
        assert set(seen.counts) == {person.number for person in gallery.people()}
        own = gallery.calibration
        assert len(own.evidence) > len(without.evidence)
        assert own.evidence[-1] == without.evidence[-1]
    with Gallery.open(path) as gallery:
        assert gallery.calibration.to_dict() == own.to_dict()
        gone = gallery.people()[0]
        gallery.delete(gone.name)
        assert f'"{gone.number}"' not in gallery._store.calibration()
        left = gallery.unnamed()
        assert gone.number not in left.counts
        assert len(left.counts) == 5
        assert left.n_faces == 30
        few = gallery.calibration
        assert few.evidence[0].n_comparisons < own.evidence[0].n_comparisons
        gallery.forget_unnamed()
        assert gallery.unnamed() is None
        assert len(gallery.calibration.evidence) == 1


def test_faces_of_another_model_count_no_more(gallery: Gallery, verifier: Verifier) -> None:
    fill(gallery, X[:6, :2])
    gallery.observe(X[20:50, 0])
    gallery.set_model(FaceModel(None, verifier, {"name": "another card"}))
    assert gallery.unnamed() is None
    with pytest.raises(InputError, match="sets must have one number per face"):
        gallery.observe(X[20:50, 0], sets=[1, 2])


def test_a_damaged_calibration_is_no_obstacle_to_a_deletion(gallery: Gallery) -> None:
    fill(gallery, X[:6, :2])
    gallery._store.set_calibration('{"unnamed": 3}')
    gone = gallery.people()[0].name
    gallery.delete(gone)
    assert gone not in {person.name for person in gallery.people()}
    assert gallery.unnamed() is None
