"""Every plot shows the numbers that it was given, on the axes that it says."""

from __future__ import annotations

import builtins
import re
import sys
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import norm

from mien.errors import InputError, MissingDependencyError
from mien.evaluation import roc
from mien.reports import (
    figure_data,
    figure_to_svg,
    plot_bars,
    plot_cmc,
    plot_curves,
    plot_det,
    plot_histograms,
    plot_roc,
    plot_scatter,
    plot_score_histograms,
    plot_tippett,
)
from tests.near import assert_near


def line(figure: Any, name: str) -> Any:
    found = [line for line in figure.axes[0].get_lines() if line.get_label() == name]
    assert len(found) == 1
    return found[0]


def texts(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


@pytest.fixture
def pairs() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(2, 1, 60), rng.normal(0, 1, 90)


def test_roc_shows_the_curve_on_a_logarithmic_axis(pairs: Any) -> None:
    curve = roc(*pairs)
    figure = plot_roc({"a": curve, "b": (curve.far, curve.vr**2)}, title="T")
    axes = figure.axes[0]
    shown = line(figure, "a")
    assert axes.get_xscale() == "log"
    assert axes.get_title(loc="left") == "T"
    left = axes.get_xlim()[0]
    assert 0 < left <= curve.far[curve.far > 0].min()
    np.testing.assert_array_equal(shown.get_xdata(), np.maximum(curve.far, left))
    np.testing.assert_array_equal(shown.get_ydata(), curve.vr)
    np.testing.assert_array_equal(line(figure, "b").get_ydata(), curve.vr**2)
    assert [t.get_text() for t in axes.get_legend().get_texts()] == ["a", "b"]


def test_roc_bands_lie_around_their_curve(pairs: Any) -> None:
    far, vr, _ = roc(*pairs)
    figure = plot_roc({"a": (far, vr)}, bands={"a": (far, vr - 0.1, vr + 0.1)})
    (band,) = figure.axes[0].collections
    points = band.get_paths()[0].vertices
    assert points[:, 1].min() == pytest.approx(-0.1)
    assert points[:, 1].max() == pytest.approx(1.1)
    with pytest.raises(InputError, match="no curve is"):
        plot_roc({"a": (far, vr)}, bands={"z": (far, vr, vr)})


def test_det_is_in_normal_deviates(pairs: Any) -> None:
    far = np.array([0.0, 0.01, 0.1, 0.3, 1.0])
    frr = np.array([1.0, 0.5, 0.2, 0.05, 0.0])
    figure = plot_det({"a": (far, frr)})
    shown = line(figure, "a")
    assert_near(shown.get_xdata()[1:4], ndtri(far[1:4]), digits=7)
    assert_near(shown.get_ydata()[1:4], ndtri(frr[1:4]), digits=7)
    assert np.all(np.isfinite(shown.get_xydata()))
    ticks = dict(
        zip(
            [label.get_text() for label in figure.axes[0].get_xticklabels()],
            figure.axes[0].get_xticks(),
            strict=True,
        )
    )
    assert ticks["10 %"] == pytest.approx(ndtri(0.1))


def test_det_of_perfect_scores_is_drawn() -> None:
    figure = plot_det({"a": ([0.0, 0.0, 1.0], [1.0, 0.0, 0.0])})
    assert np.all(np.isfinite(line(figure, "a").get_xydata()))


def test_det_leaves_the_frame_instead_of_running_along_it() -> None:
    rng = np.random.default_rng(0)
    curve = roc(rng.normal(3, 1, 5000), rng.normal(0, 1, 5000))
    figure = plot_det({"a": (curve.far, 1 - curve.vr)})
    low, high = figure.axes[0].get_xlim()
    for values in line(figure, "a").get_data():
        assert np.count_nonzero(values == high) <= 1
        assert values.max() > high  # up to a rate of 1, outside
        assert values.min() >= low  # a rate of 0 on the edge


def test_many_long_names_neither_cover_a_line_nor_push_a_label_out(pairs: Any) -> None:
    names = [f"a_rather_long_name_of_a_system_{k}" for k in range(7)]
    curve = roc(*pairs)
    for figure in (
        plot_roc(dict.fromkeys(names, (curve.far, curve.vr))),
        plot_det(dict.fromkeys(names, (curve.far, 1 - curve.vr))),
        plot_tippett(dict.fromkeys(names[:2], pairs)),
        plot_tippett(dict.fromkeys(names[:4], pairs)),
        plot_tippett({3 * names[0]: pairs, "b": pairs}),
    ):
        figure.draw_without_rendering()
        axes = figure.axes[0]
        frame, legend = axes.get_window_extent(), axes.get_legend().get_window_extent()
        assert legend.y1 < frame.y0  # below
        assert legend.y0 >= 0
        assert axes.yaxis.label.get_window_extent().x0 >= 0
        assert axes.xaxis.label.get_window_extent().y0 > legend.y1
        assert frame.width > 0.5 * figure.bbox.width


def test_tippett_counts_pairs_above_each_value() -> None:
    genuine, impostor = (
        np.log(10) * np.array([1.0, 2.0, 2.0, -1.0]),
        np.log(10) * np.array([-3.0, 0.5]),
    )
    figure = plot_tippett({"a": (genuine, impostor)})
    for name, values in (("same person", genuine), ("different people", impostor)):
        x, y = line(figure, name).get_data()
        assert np.all(np.diff(x) >= 0)
        assert np.all(np.diff(y) <= 0)
        for at in (-4.0, -2.0, 0.0, 0.7, 1.5, 2.5):
            # The line is drawn through the corners: the last corner at or left of the value.
            expected = np.mean(values / np.log(10) > at)
            inside = np.flatnonzero(x <= at)
            assert (y[inside[-1]] if inside.size else 1.0) == pytest.approx(expected)
    several = plot_tippett({"a": (genuine, impostor), "b": (genuine + 1, impostor)})
    assert len(several.axes[0].get_legend().get_texts()) == 4


def test_cmc_shows_rates_by_rank() -> None:
    figure = plot_cmc({"a": [0.5, 0.75, 1.0], "b": [0.4, 0.6, 0.8]})
    np.testing.assert_array_equal(line(figure, "a").get_xdata(), [1, 2, 3])
    np.testing.assert_array_equal(line(figure, "b").get_ydata(), [0.4, 0.6, 0.8])
    assert sorted(texts(figure)) == ["a", "b"]


def test_histograms_are_densities_over_common_bins(pairs: Any) -> None:
    figure = plot_histograms({"a": pairs[0], "b": pairs[1]}, bins=10)
    data = figure_data(figure)
    assert [entry["name"] for entry in data] == ["a", "b"]
    assert data[0]["x"] == data[1]["x"]
    for entry, values in zip(data, pairs, strict=True):
        edges = np.array(entry["x"])
        counts = np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0]
        assert_near(entry["y"], counts / values.size / np.diff(edges), digits=7)
        assert np.sum(np.array(entry["y"]) * np.diff(edges)) == pytest.approx(1)


def test_histograms_with_normal_densities(pairs: Any) -> None:
    figure = plot_histograms({"a": pairs[0], "one": [1.0]}, normal=True)
    curve = line(figure, "a, normal")
    x, y = np.asarray(curve.get_xdata()), np.asarray(curve.get_ydata())
    values = pairs[0][np.isfinite(pairs[0])]
    assert_near(y, norm.pdf(x, values.mean(), values.std()), digits=7)
    # A single number has no deviation.
    assert [entry["name"] for entry in figure_data(figure)] == ["a, normal", "a", "one"]


def test_score_histograms_mark_thresholds(pairs: Any) -> None:
    figure = plot_score_histograms(*pairs, thresholds={"FAR 1 %": 2.5})
    marks = [line for line in figure.axes[0].get_lines() if line.get_label() == "_threshold"]
    assert [tuple(mark.get_xdata()) for mark in marks] == [(2.5, 2.5)]
    assert texts(figure) == ["FAR 1 %"]


@pytest.mark.parametrize("values", [[1.0, 1.0], [np.inf, 0.5], [np.inf, -np.inf]])
def test_histograms_of_degenerate_samples(values: list[float]) -> None:
    figure_to_svg(plot_histograms({"a": values, "b": [1.0]}))


def test_curves_with_errors() -> None:
    x, y = np.array([1.0, 10.0, 100.0]), np.array([0.2, 0.5, 0.6])
    error = np.array([0.1, 0.2, 0.3])
    figure = plot_curves({"a": (x, y, error), "b": (x, y + 1, None)}, "n", "rate", logx=True)
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_xscale()) == ("n", "rate", "log")
    np.testing.assert_array_equal(line(figure, "a").get_xydata(), np.column_stack([x, y]))
    (container,) = axes.containers
    segments = np.array(container.lines[2][0].get_segments())
    assert_near(segments[:, 0, 1], y - error, digits=7)
    assert_near(segments[:, 1, 1], y + error, digits=7)
    assert sorted(texts(figure)) == ["a", "b"]


def test_long_curves_have_bands_and_asymmetric_errors() -> None:
    x = np.arange(50.0)
    figure = plot_curves({"a": (x, x, np.stack([np.full(50, 1.0), np.full(50, 3.0)]))})
    (band,) = figure.axes[0].collections
    points = band.get_paths()[0].vertices
    assert points[:, 1].min() == -1.0
    assert points[:, 1].max() == 52.0


def test_long_curves_are_thinned_without_losing_shape() -> None:
    x = np.linspace(0, 10, 100_000)
    y = np.where(x < 5, np.sin(3 * x), 4.0)
    shown = line(plot_curves({"a": (x, y)}), "a")
    kept_x, kept_y = shown.get_data()
    assert kept_x.size <= 402
    given = dict(zip(x, y, strict=True))
    assert all(given[a] == b for a, b in zip(kept_x, kept_y, strict=True))  # nothing invented
    assert (kept_x[0], kept_x[-1]) == (0.0, 10.0)
    assert np.abs(np.interp(x, kept_x, kept_y) - y)[np.abs(x - 5) > 0.05].max() < 0.02


def test_scatter_and_bars() -> None:
    figure = plot_scatter({"a": ([1, 2], [3, 4]), "b": ([5], [6])})
    clouds = figure.axes[0].collections
    assert clouds[0].get_offsets().tolist() == [[1, 3], [2, 4]]
    assert clouds[1].get_offsets().tolist() == [[5, 6]]
    figure = plot_bars({"a": 0.5, "b": (0.25, (0.1, 0.2))}, percent=True)
    assert [bar.get_width() for bar in figure.axes[0].patches] == [0.5, 0.25]
    assert texts(figure) == ["50.0 %", "25.0 %"]
    assert [t.get_text() for t in figure.axes[0].get_yticklabels()] == ["a", "b"]
    assert figure.axes[0].get_ylim()[0] > figure.axes[0].get_ylim()[1]  # the first on top


def test_names_at_the_ends_do_not_overlap() -> None:
    figure = plot_curves({f"s{i}": ([0, 1], [0, 1 + i / 1000]) for i in range(8)})
    heights = sorted(text.xy[1] for text in figure.axes[0].texts)
    assert np.diff(heights).min() > 0.06
    assert heights[-1] <= 1.001


def test_many_points_become_one_raster() -> None:
    rng = np.random.default_rng(0)
    svg = figure_to_svg(plot_scatter({"a": rng.normal(size=(2, 20_000))}))
    assert "data:image/png;base64" in svg
    assert len(svg) < 400_000


def test_svg_is_deterministic_and_without_addresses() -> None:
    first, second = (figure_to_svg(plot_curves({"a": ([1, 2], [3, 4])}), "n") for _ in range(2))
    assert first == second
    assert "http" not in first
    assert "var(--c0, #0072b2)" in first
    assert all(found.startswith("n-") for found in re.findall(r'id="([^"]*)"', first))


@pytest.mark.parametrize(
    "call",
    [
        lambda: plot_roc({}),
        lambda: plot_curves({"a": ([1, 2], [1])}),
        lambda: plot_curves({"a": ([], [])}),
        lambda: plot_curves({"a": ([0, 1], [1, 2])}, logx=True),
        lambda: plot_curves({"a": ([1, 2], [1, 2], [1, 2, 3])}),
        lambda: plot_histograms({"a": []}),
        lambda: plot_histograms({"a": [np.nan]}),
        lambda: plot_bars({}),
    ],
)
def test_bad_input_is_refused(call: Any) -> None:
    with pytest.raises(InputError):
        call()


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.split(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingDependencyError, match=r"mien\[plots\]"):
        plot_curves({"a": ([1, 2], [1, 2])})


def test_curves_without_errors_are_said_to_be_so() -> None:
    from mien.evaluation import det, roc
    from mien.reports import plot_det, plot_roc

    rng = np.random.default_rng(0)
    perfect = (np.linspace(2, 3, 20), np.linspace(-3, -2, 50))
    usual = (rng.normal(1, 1, 200), rng.normal(-1, 1, 200))
    for curve, plot in ((roc, plot_roc), (det, plot_det)):
        said = {}
        for name, scores in (("perfect", perfect), ("usual", usual)):
            texts = plot({name: curve(*scores)}).axes[0].texts
            said[name] = [words.get_text() for words in texts]
        assert any("no errors" in words for words in said["perfect"])
        assert not any("no errors" in words for words in said["usual"])
        # Beside others the words stand in the legend, and cover no curve.
        both = plot({"perfect": curve(*perfect), "usual": curve(*usual)}).axes[0]
        assert not both.texts
        shown = [words.get_text() for words in both.get_legend().get_texts()]
        assert shown == ["perfect (no errors)", "usual"]
