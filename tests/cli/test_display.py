"""Numbers in words."""

from __future__ import annotations

import math

import pytest

from mien.cli._display import ratio_in_words


@pytest.mark.parametrize(
    ("log_ratio", "words"),
    [
        (math.log(4100), "4,100 times likelier of one person than of two"),
        (-math.log(25.4), "25 times likelier of two people than of one"),
        (math.log(1.5), "1.5 times likelier of one person than of two"),
        (0.01, "as likely of one person as of two"),
        (-500.0, "over a million times likelier of two people than of one"),
        (math.nan, "no ratio"),
    ],
)
def test_a_log_ratio_is_natural_and_has_words(log_ratio, words):
    assert ratio_in_words(log_ratio) == words
