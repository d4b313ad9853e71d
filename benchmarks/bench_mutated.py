"""Ten thousand mutated pictures through analyse_pictures: no crash, no hang, every reason named.

Each is one of seven formats, in several modes and with EXIF, with bytes flipped (most of them in
the header), sizes in the header changed, parts cut out, doubled or cut off.
"""

from __future__ import annotations

import collections
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import skimage.data
from PIL import Image

from benchmarks.forged.pictures import make_seeds, mutate
from benchmarks.measure import Row

N_FILES = 10_000


def rows() -> Iterator[Row]:
    """The rows of this benchmark."""
    from mien.faces import analyse_pictures

    rng = np.random.RandomState(20)
    face = Image.fromarray(skimage.data.astronaut()[40:200, 140:300])
    seeds = list(make_seeds(face).items())
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for k in range(N_FILES):
            paths.append(Path(folder) / f"{k:05d}.jpg")
            paths[-1].write_bytes(mutate(seeds[k % len(seeds)][1], rng))
        reasons: collections.Counter[str] = collections.Counter()
        faces = decoded = 0
        longest, start = 0.0, time.perf_counter()
        last = start
        for result in analyse_pictures(paths, n_jobs=2):
            now = time.perf_counter()
            longest, last = max(longest, now - last), now
            if result.error is None:
                decoded += 1
                faces += len(result.faces)
            else:
                words = result.error.replace(repr(str(result.path)), "").strip()
                reasons[re.split(r"[:;(]|\d", words)[0].strip()[:60]] += 1
        took = last - start
    refused = sum(reasons.values())
    if decoded + refused != N_FILES:
        raise RuntimeError(f"{N_FILES - decoded - refused} files have no result")
    note = f"{decoded} decoded, {faces} faces, {refused} refused"
    yield Row(f"{N_FILES:,} mutated pictures", "analyse_pictures", took, None, "", note)
    yield Row("longest wait for a result", "analyse_pictures", longest)
    unexpected = sum(n for reason, n in reasons.items() if reason.startswith("cannot be analysed"))
    yield Row("errors that were not foreseen", "analyse_pictures", 0.0, None, "", str(unexpected))
    for reason, n in reasons.most_common(8):
        yield Row(f"  refused: {n}", reason[:30], 0.0)
