"""Reliability diagrams of all domains of an engine, side by side."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from papers.promise.run import (
    STATED,
    fit_domain,
    fit_sources,
    learn_prior,
    load_domains,
    measure_lookalikes,
    trace_reliability,
)

__all__ = ["draw_reliability"]

_TRACED = ((10, 3), (5, 3), (25, 1))
_SHOWN = {"before": "#999999", "own": "#0072b2", "own and unnamed": "#d55e00"}
_LOWEST = 1e-3
_COLUMNS = 4


def draw_reliability(
    engine: str, cache: str | os.PathLike[str], data: Any = None, n_draws: int = 10
) -> Any:
    """One panel a domain: stated and realised shares of strangers who are named.

    Returns
    -------
    matplotlib.figure.Figure
        The grey band is within a factor of two.
    """
    from matplotlib.figure import Figure

    half, full = fit_sources(engine, data)
    domains = load_domains(engine, cache, data)
    alike, _ = measure_lookalikes(half, domains[0].X, domains[0].people)
    fits = {
        d.name: (d.family, fit_domain(d, half if d.of_lfw else full))
        for d in domains
        if d.groups is None
    }
    rows = -(-len(domains) // _COLUMNS)
    figure = Figure(figsize=(2.5 * _COLUMNS, 2.5 * rows), layout="constrained")
    panels = figure.subplots(rows, _COLUMNS, sharex=True, sharey=True, squeeze=False).ravel()
    stated = np.asarray(STATED)
    for panel, domain in zip(panels, domains, strict=False):
        prior = learn_prior(fits, alike, domain.family)["lookalikes"]
        verifier = half if domain.of_lfw else full
        for setting in _TRACED:
            found = trace_reliability(domain, verifier, prior, setting, n_draws)
            if found is not None:
                break
        else:
            continue
        panel.fill_between(stated, stated / 2, stated * 2, color="#dddddd", linewidth=0)
        for method, colour in _SHOWN.items():
            realised = np.maximum(found[method], _LOWEST)
            panel.plot(stated, realised, "o-", color=colour, markersize=3, label=method)
        panel.set(xscale="log", yscale="log", ylim=(_LOWEST * 0.8, 1.2))
        panel.set_title(f"{domain.name}\n{setting[0]} people, {setting[1]} pictures", fontsize=8)
    for panel in panels[len(domains) :]:
        panel.set_visible(False)
    panels[0].legend(fontsize=7)
    figure.supxlabel("stated share of strangers named", fontsize=9)
    figure.supylabel("realised", fontsize=9)
    return figure
