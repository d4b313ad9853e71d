"""The comparison that the other tests stand on."""

import numpy as np
import pytest

from tests.near import assert_near, relative_difference


def test_the_largest_difference_against_the_largest_entry():
    expected = np.array([1000.0, 1e-9, -3.0])
    other = expected + np.array([0, 1e-4, 0])
    assert relative_difference(other, expected) == pytest.approx(1e-7)
    assert_near(other, expected, digits=6.9)
    with pytest.raises(AssertionError, match=r"7\.0 digits agree, 7\.1 are asked for"):
        assert_near(other, expected, digits=7.1)


def test_a_sign_a_factor_and_a_missing_row_are_seen():
    expected = np.arange(6.0).reshape(2, 3)
    for wrong in (-expected, 1.01 * expected, expected[::-1]):
        with pytest.raises(AssertionError, match="digits agree"):
            assert_near(wrong, expected, digits=3)
    with pytest.raises(AssertionError, match="shapes differ"):
        assert_near(expected[:1], expected)


def test_zeros_need_a_scale():
    with pytest.raises(AssertionError, match="scale="):
        assert_near(np.full(3, 1e-12), 0)
    assert_near(np.full(3, 1e-12), 0, digits=9, scale=1)
    with pytest.raises(AssertionError):
        assert_near(np.full(3, 1e-6), 0, digits=9, scale=1)


def test_what_is_not_finite_must_stand_in_the_same_places():
    expected = np.array([1.0, np.nan, np.inf])
    assert_near(expected + 1e-12, expected)
    for wrong in ([1.0, 0.0, np.inf], [1.0, np.nan, -np.inf], [np.nan, np.nan, np.inf]):
        with pytest.raises(AssertionError):
            assert_near(np.array(wrong), expected)


def test_integers_and_single_precision():
    assert_near(np.uint8([3, 255]), np.uint8([4, 255]), digits=2)
    assert_near(np.float32([0.1]), np.array([0.1]), digits=6)
