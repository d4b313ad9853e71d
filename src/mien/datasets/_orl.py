"""The ORL (AT&T) faces: 400 pictures, 40 people, ten each."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import numpy as np

from mien._core.validation import check_choice
from mien.datasets._decode import ON_ERROR, decode_all, decode_path
from mien.datasets._home import find_place, fit_prepared, read_prepared
from mien.datasets._record import FaceSet
from mien.errors import MissingDataError

__all__ = ["load_orl"]

LICENCE = "free with credit to Olivetti Research Laboratory / AT&T Laboratories Cambridge"
SOURCE = "ORL faces (Samaria and Harter, 1994)"
PREPARED = {"full": "orl.npz", "64x64": "olivetti_64x64.npz", "32x32": "orl_32x32.npz"}
SIGNS = ("orl*.npz", "olivetti*.npz", "s1", "*/s1")
_PEOPLE, _EACH = 40, 10


def tree_below(place: Path) -> Path | None:
    """Return the folder that holds s1, s2, …, if there is one."""
    for sign in ("s1", "*/s1"):
        for found in sorted(place.glob(sign)):
            if found.is_dir():
                return found.parent
    return None


def load_orl(
    home: str | os.PathLike[str] | None = None,
    *,
    variant: str = "full",
    size: int | tuple[int, int] | None = None,
    fit: str = "crop",
    on_error: str = "raise",
    download: bool = False,
) -> FaceSet:
    """Read the ORL faces: from the original tree or the prepared files.

    Parameters
    ----------
    home : path or None
        The folder that holds ``orl/``, or that folder itself; None takes ``MIEN_DATA``. In it is
        the original tree (``s1/1.pgm`` … ``s40/10.pgm``) or ``orl.npz``.
    variant : {"full", "64x64", "32x32"}
        112×92 pixels, or the crops that are known as the Olivetti faces and as ORL 32×32. The
        tree has the full pictures only.
    size : int or (height, width) or None
        Resize to this.
    fit : {"crop", "stretch", "pad"}
        What happens when the proportions differ.
    on_error : {"raise", "skip"}
        Whether missing and damaged files of the tree are an error or left out and listed.
    download : bool
        If nothing is found, fetch the Olivetti faces with scikit-learn (variant "64x64").

    Returns
    -------
    FaceSet
        ``people`` 1 … 40; ``metadata`` has ``number`` (1 … 10) and ``file``.
    """
    check_choice("variant", variant, tuple(PREPARED))
    check_choice("on_error", on_error, ON_ERROR)
    try:
        place = find_place("orl", home, f"{PREPARED[variant]} or s1/1.pgm …", SIGNS)
        return _load_from(place, variant, size, fit, on_error)
    except MissingDataError:
        if not download:
            raise
    return _fetch(variant, size, fit)


def _load_from(
    place: Path, variant: str, size: int | tuple[int, int] | None, fit: str, on_error: str
) -> FaceSet:
    tree = tree_below(place)
    path = place / PREPARED[variant]
    if path.is_file() or variant != "full" or tree is None:
        arrays = read_prepared(path, {"subject": "iu", "index": "iu", "filename": "U"})
        return FaceSet(
            fit_prepared(arrays["images"], size, fit),
            arrays["subject"],
            {"number": arrays["index"], "file": arrays["filename"]},
            source=f"{SOURCE}, {path}",
            licence=LICENCE,
        )
    wanted = [(k, n) for k in range(1, _PEOPLE + 1) for n in range(1, _EACH + 1)]
    files = [f"s{k}/{n}.pgm" for k, n in wanted]
    decoded = decode_all(
        [partial(decode_path, tree / file, size=size, fit=fit) for file in files],
        on_error=on_error,
        description="reading ORL",
    )
    people, number = np.array(wanted)[decoded.rows].T
    return FaceSet(
        decoded.images,
        people,
        {"number": number, "file": np.array(files)[decoded.rows]},
        source=f"{SOURCE}, {tree}",
        licence=LICENCE,
        skipped=decoded.skipped,
    )


def _fetch(variant: str, size: int | tuple[int, int] | None, fit: str) -> FaceSet:
    from sklearn.datasets import fetch_olivetti_faces

    if variant != "64x64":
        raise MissingDataError(
            "scikit-learn's fetcher has the 64×64 pictures only: ask for variant='64x64', or put "
            f"{PREPARED[variant]} or the original tree into the folder orl/ of MIEN_DATA"
        )
    try:
        fetched = fetch_olivetti_faces()
    except Exception as error:  # no network, a proxy, a changed checksum: each has its own
        raise MissingDataError(f"the Olivetti faces could not be downloaded: {error}") from error
    images = np.round(fetched.images * 255).astype(np.uint8)
    number = np.tile(np.arange(1, _EACH + 1), _PEOPLE)
    return FaceSet(
        fit_prepared(images, size, fit),
        fetched.target + 1,
        {"number": number, "file": np.array([f"olivettifaces.mat#{k}" for k in range(400)])},
        source=f"{SOURCE}, fetched by scikit-learn",
        licence=LICENCE,
    )
