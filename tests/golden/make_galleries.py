"""Made the golden galleries of format 2, with the code of commit 8b460d8, before format 3.

Kept to show what is in them: ``python tests/golden/make_galleries.py tests/golden/format2``.
"""

# mypy: ignore-errors

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

KEY = "the golden passphrase of 2026"
KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "sealed": {"key": KEY},
    "sealed-names-in-clear": {"key": KEY, "seal_names": False},
}


def main(folder: Path) -> None:
    import mien
    from mien.gallery import Gallery

    folder.mkdir(parents=True, exist_ok=True)
    verifier = mien.load(Path(__file__).parent / "format1" / "OpenSetVerifier.mien")
    rng = np.random.default_rng(5)
    people = np.repeat(np.arange(6), 4)
    X = 3 * rng.standard_normal((6, 6))[people] + rng.standard_normal((24, 6))
    X = (X / np.linalg.norm(X, axis=1, keepdims=True)).round(5)
    expected: dict[str, Any] = {"probes": X[3::4].tolist(), "key": KEY}
    for name, options in KINDS.items():
        with Gallery.create(folder / f"{name}.gallery", verifier, **options) as gallery:
            for person in range(5):
                rows = np.flatnonzero(people == person)[:3]
                gallery.enrol(
                    f"Zoë {person}",
                    X[rows].astype(np.float32),
                    digests=[hashlib.sha256(bytes([row])).hexdigest() for row in rows],
                    faces=[0, 1, 0],
                    sources=[f"photos/{row}.jpg" for row in rows],
                    qualities=[None, 0.5, 0.75],
                )
            gallery.add_person("without a face")
            gallery.enrol("gone", X[20:21].astype(np.float32), digests=["ab" * 32])
            gallery.delete("gone")
            gallery.rename("Zoë 4", "Ångström")
            gallery.set_model(gallery.model)
            found = gallery.identify(X[3::4], fpir=0.1, search="exact", impostors="strangers")
            if name != "sealed-names-in-clear":
                gallery.export(folder / f"{name}.export.mien")
            expected[name] = {
                "people": [[p.name, p.templates] for p in gallery.people()],
                "answers": [[a.person, round(a.log_ratio, 4)] for a in found],
                "audit": [[e.action, e.people, e.templates] for e in gallery.audit()],
                "sealed": "key" in options,
            }
    for left in folder.glob("*-reserve"):
        left.unlink()
    (folder / "galleries.json").write_text(json.dumps(expected, separators=(",", ":")))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
