"""The transfer experiment in small."""

from __future__ import annotations

import numpy as np

from mien.reports import Report
from papers.transfer import report as transfer
from papers.transfer.data import Domain, load_domain
from papers.transfer.ratios import compare_ratios, lowest_ratio
from papers.transfer.run import METHODS, run_domain


def domain():
    rng = np.random.default_rng(0)
    d = 8

    def people(n, name, scale=1.0, shift=0.0):
        y = np.repeat(np.arange(n), 4)
        X = rng.standard_normal((n, d))[y] * np.linspace(2, 0.3, d)
        X = X + scale * rng.standard_normal((len(y), d)) + shift
        return X, np.asarray([f"{name} {p}" for p in y])

    source, target = people(150, "s"), people(130, "t", 1.5, 1.0)
    return Domain("made up", "vectors, moved", *source, *target, 40, 80, (2, 30))


def test_curves_have_every_method_and_people_are_disjoint():
    made = domain()
    source, test, adapt = made.draw(0)
    groups = [
        set(made.y_source[source]),
        set(made.y_target[test]),
        set(made.y_target[np.concatenate(adapt)]),
    ]
    assert len(set.union(*groups)) == sum(map(len, groups))
    curves = run_domain(made, 2, 0)
    for values in curves.values.values():
        assert values.shape == (len(METHODS), 2, 2)
        assert np.isfinite(values[:-1]).all()
        assert np.isnan(values[-1, 0]).all()  # two people cannot calibrate
        assert np.isfinite(values[-1, 1]).all()
    assert curves.mean("cllr", "transfer, auto")[1] < curves.mean("cllr", "target only")[1]
    report = Report("t")
    transfer.report_domain(report, curves)
    assert any("Advantage" in str(block) for block in report.to_dict().values())


def test_the_approximate_step_deletes_weak_directions():
    rows = compare_ratios(4, 0, n_people=800)
    law = lowest_ratio(4)
    true, exact, approximate = (
        np.asarray([row[name] for row in rows]) for name in ("true ratio", "exact", "approximate")
    )
    # So far from the law the verdict does not depend on chance.
    assert np.all((approximate / true)[true > 1.5 * law] > 0.5)
    assert np.all((approximate / true)[true < 0.7 * law] < 0.2)
    assert np.all(np.abs(exact / true - 1)[true > 0.5] < 0.5)


def test_people_of_a_real_shift_are_disjoint(data_home):
    shift = load_domain("lowres", data_home)
    source, test, adapt = shift.draw(1)
    used = set(shift.y_target[test]) | set(shift.y_target[np.concatenate(adapt)])
    assert not used & set(shift.y_source[source])
    assert len(used) == 900
