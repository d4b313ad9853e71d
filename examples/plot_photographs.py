"""
From photographs to names
=========================

The verbs of the command line are functions of :mod:`mien.recognition`. This example enrols people
from folders of photographs, names the faces of a group picture, and draws the answer. The people
are rendered and do not exist.
"""

# %%
# ``photos/`` has one folder per person. The group picture shows three of them and a stranger.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.patches import Rectangle
from PIL import Image

from mien.datasets import make_album
from mien.recognition import enrol, identify

folder = Path(tempfile.mkdtemp())
album = make_album(folder / "album", n_named=3, n_strangers=1, n_unsorted=2)
gallery = folder / "people.gallery"
enrolment = enrol(album / "photos", gallery)
print(f"{enrolment.added} faces of {len(enrolment.people)} people")

# %%
# Each face gets a name, or ``None`` if its log ratio is below the threshold of the stated rate.
(picture,) = identify(album / "party.jpg", gallery, fpir=0.05)
for face in picture.faces:
    name, ratio = face.candidates[0]
    print(f"{face.person or 'unknown':8s} best candidate {name}: {ratio:+.1f}")

# %%
fig, ax = plt.subplots(figsize=(9, 2.9))
ax.imshow(Image.open(album / "party.jpg"))
for face in picture.faces:
    x, y, width, height = face.found.face.box
    colour = "tab:green" if face.person else "tab:gray"
    ax.add_patch(Rectangle((x, y), width, height, fill=False, ec=colour, lw=2))
    words = f"{face.person or 'unknown'} ({face.candidates[0][1]:+.1f})"
    ax.text(x, y - 8, words, color="white", fontsize=9, backgroundcolor=colour)
ax.axis("off")
fig.tight_layout()
