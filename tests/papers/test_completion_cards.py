"""The cards of the shipped files name these files, and say their terms."""

from __future__ import annotations

import hashlib
from pathlib import Path

import mien
from papers.completion.cards import describe_completion_cards

CARDS = Path(__file__).parents[2] / "docs" / "model-cards.md"


def test_every_shipped_file_has_a_card_with_terms() -> None:
    package = Path(mien.__file__).parent
    text = CARDS.read_text(encoding="utf-8")
    shipped = [*package.rglob("*.mien"), *package.rglob("*.npz")]
    assert shipped
    for path in shipped:
        assert f"`{path.name}`" in text
    for name in ("recognition/models/completion.mien", "faces/covered.npz"):
        assert hashlib.sha256((package / name).read_bytes()).hexdigest() in text
    assert text.count("| terms |") == len(shipped)
    assert "\n".join(describe_completion_cards(package)) in text
