"""Pictures on workers give what threads give."""

from __future__ import annotations

import pytest

import mien.distributed._faces as faces
from mien.datasets import make_faces
from mien.distributed import analyse
from mien.errors import InputError
from mien.faces import analyse_pictures
from mien.media import write_image
from tests.near import assert_near

pytestmark = pytest.mark.needs("faces")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("pictures")
    images = make_faces(2, 2, size=128, random_state=0).images
    for k, image in enumerate(images):
        write_image(place / f"{k}.png", image)
    (place / "x.png").write_bytes(b"nothing")
    return place


def test_workers_find_what_threads_find(folder, tmp_path, monkeypatch):
    paths = sorted(folder.iterdir())
    expected = list(analyse_pictures(paths, n_jobs=1))
    monkeypatch.setattr(faces, "_PICTURES", 2)
    for n_workers in (2, 1):  # the second reads what the first has written
        found = list(analyse(paths, n_workers=n_workers, journal=tmp_path / "journals"))
        assert [one.path for one in found] == paths
        assert [one.error is None for one in found] == [True] * 4 + [False]
        for mine, theirs in zip(found, expected, strict=True):
            assert len(mine.faces) == len(theirs.faces)
            for a, b in zip(mine.faces, theirs.faces, strict=True):
                assert_near(a.vector, b.vector, 4)
    assert list((tmp_path / "journals").glob("*.journal"))


def test_more_pictures_leave_most_parts_as_they_are():
    names = [f"holiday/{k:05d}.jpg" for k in range(4000)]
    before = {tuple(part) for part in faces._cut(names)}
    assert [name for part in faces._cut(names) for name in part] == names
    assert 20 < len(names) / len(before) < 50
    after = {tuple(part) for part in faces._cut(sorted([*names, "holiday/01000b.jpg", "z.jpg"]))}
    assert len(before - after) <= 3


def test_a_journal_of_another_kind_is_refused(folder, tmp_path):
    (tmp_path / "j").write_text("")
    with pytest.raises(InputError, match="without workers"):
        analyse([folder / "0.png"], journal=tmp_path / "j")
    with pytest.raises(InputError, match="list of paths"):
        analyse(folder)
