"""Which sets are known, which of them are here, and one door to all of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mien._core.validation import check_choice
from mien.datasets import _lfw, _lfw_protocol, _orl, _yale
from mien.datasets._decode import ON_ERROR
from mien.datasets._folder import load_folder
from mien.datasets._home import find_place, read_arrays
from mien.datasets._record import FaceSet
from mien.datasets._rendered import make_faces
from mien.errors import DataError, InputError, MienError, MissingDataError
from mien.media import check_size

__all__ = ["KNOWN_SETS", "list_sets", "load_faces"]

KNOWN_SETS = ("rendered", "orl", "yale", "lfw")
"""The names that `load_faces` knows beside paths."""

Found = tuple[Path, int, int]


def _count_orl(home: str | os.PathLike[str] | None) -> Found:
    place = find_place("orl", home, "orl.npz or s1/1.pgm …", _orl.SIGNS)
    for name in _orl.PREPARED.values():
        if (place / name).is_file():
            subject = read_arrays(place / name, {"subject": ("iu", 1)})["subject"]
            return place / name, len(subject), len(np.unique(subject))
    tree = _orl.tree_below(place)
    if tree is None:
        raise MissingDataError(f"{str(place)!r} has neither a prepared file nor a tree")
    files = list(tree.glob("s*/*.pgm"))
    return tree, len(files), len({file.parent for file in files})


def _count_yale(home: str | os.PathLike[str] | None) -> Found:
    place = find_place("yale", home, "yale.npz or subject01.centerlight …", _yale.SIGNS)
    for name in _yale.PREPARED.values():
        if (place / name).is_file():
            arrays = read_arrays(place / name, {"subject": ("iu", 1), "identical_to": ("U", 1)})
            own = arrays["identical_to"] == ""
            return place / name, int(own.sum()), len(np.unique(arrays["subject"]))
    tree = _yale.tree_below(place)
    files = {} if tree is None else _yale.list_tree(tree)
    if tree is None or not files:
        raise MissingDataError(f"{str(place)!r} has neither a prepared file nor a tree")
    return tree, len(files), len({person for person, _ in files})


def _count_lfw(home: str | os.PathLike[str] | None) -> Found:
    listing = _lfw.list_lfw(home)
    return listing.place, len(listing.files), len(np.unique(listing.people))


def _count_protocol(home: str | os.PathLike[str] | None) -> Found:
    protocol = _lfw_protocol.load_lfw_protocol(home)
    wanted = f"pairs.txt or {_lfw_protocol.INDEX}"
    place = find_place("lfw", home, wanted, ("pairs.txt", _lfw_protocol.INDEX))
    return place, len(protocol.files), len(protocol.names)


def _count_embeddings(name: str) -> Callable[[str | os.PathLike[str] | None], Found]:
    def count(home: str | os.PathLike[str] | None) -> Found:
        file = _lfw.EMBEDDINGS[name][0]
        vectors = _lfw.load_lfw_embeddings(home, name)
        place = find_place("lfw", home, file, (file,))
        return place / file, len(vectors), len(np.unique(vectors.people))

    return count


def list_sets(home: str | os.PathLike[str] | None = None) -> list[dict[str, Any]]:
    """Say for every set that is known whether it is here, how large it is, and on which terms.

    Parameters
    ----------
    home : path or None
        Where to look; None takes ``MIEN_DATA``. Where neither is there, nothing is found.

    Returns
    -------
    list of dict
        ``name``, ``what``, ``load`` (the call), ``place`` (or None), ``pictures`` and ``people``
        (None where it is not found), ``terms`` and ``licence`` (short and long), ``problem`` (why
        it cannot be used, or "").
    """
    rows: list[dict[str, Any]] = [
        {
            "name": "rendered",
            "what": "drawn people, any number of them",
            "load": "make_faces(n_people, n_per_person)",
            "place": "made on request",
            "pictures": None,
            "people": None,
            "terms": "free",
            "licence": "free: nobody's photographs",
            "problem": "",
        }
    ]
    tests = "research and testing"
    credit = "research, with credit"
    known: list[tuple[str, str, str, str, str, Callable[..., Found]]] = [
        ("orl", _orl.SOURCE, "load_orl()", "free, with credit", _orl.LICENCE, _count_orl),
        ("yale", _yale.SOURCE, "load_yale()", credit, _yale.LICENCE, _count_yale),
        ("lfw", _lfw.SOURCE, "load_lfw()", tests, _lfw.LICENCE, _count_lfw),
        (
            "lfw protocol",
            "the pairs and folds of LFW",
            "load_lfw_protocol()",
            tests,
            _lfw.LICENCE,
            _count_protocol,
        ),
    ]
    for name, (_, description, licence) in _lfw.EMBEDDINGS.items():
        known.append(
            (
                f"lfw {name}",
                f"embeddings: {description}",
                f"load_lfw_embeddings(name={name!r})",
                tests,
                f"{licence}; of pictures that are {_lfw.LICENCE}",
                _count_embeddings(name),
            )
        )
    for name, what, load, terms, licence, count in known:
        row: dict[str, Any] = {"name": name, "what": what, "load": load, "place": None}
        row |= {"pictures": None, "people": None, "terms": terms, "licence": licence, "problem": ""}
        try:
            place, row["pictures"], row["people"] = count(home)
            row["place"] = str(place)
        except MienError as error:
            row["problem"] = str(error)
        rows.append(row)
    return rows


def load_faces(
    name: str | os.PathLike[str],
    *,
    home: str | os.PathLike[str] | None = None,
    size: int | tuple[int, int] | None = None,
    colour: bool = False,
    on_error: str = "raise",
) -> FaceSet:
    """Load a set by its name, or a folder of your own by its path.

    Parameters
    ----------
    name : str or path
        ``"rendered"``, ``"orl"``, ``"yale"``, ``"lfw"``, or the path of a folder with one folder a
        person (write ``./orl`` for a folder of such a name).
    home : path or None
        Where the named sets are; None takes ``MIEN_DATA``.
    size : int or (height, width) or None
        Resize to this.
    colour : bool
        True gives RGB, False grey. ORL and Yale are grey.
    on_error : {"raise", "skip"}
        Whether pictures that cannot be read are an error, or left out and listed.

    Returns
    -------
    FaceSet
    """
    check_choice("on_error", on_error, ON_ERROR)
    if name == "rendered":
        height, width = check_size(64 if size is None else size) or (64, 64)
        if height != width:
            raise InputError(f"rendered faces are squares: size must be an integer; got {size!r}")
        return make_faces(40, 10, height, colour=colour, random_state=0)
    if name in ("orl", "yale") and colour:
        raise DataError(f"the set {name!r} is grey: colour=True is not available")
    if name == "orl":
        return _orl.load_orl(home, size=size, on_error=on_error)
    if name == "yale":
        return _yale.load_yale(home, size=size, on_error=on_error)
    if name == "lfw":
        return _lfw.load_lfw(home, size=size, colour=colour, on_error=on_error)
    path = Path(name)
    if not path.exists() and len(path.parts) == 1:
        raise MissingDataError(
            f"{str(name)!r} is neither a known set ({', '.join(KNOWN_SETS)}) nor an existing folder"
        )
    return load_folder(path, size=size, colour=colour, on_error=on_error)
