"""privatize, continue_ and sensitivity: settings on which the promise depends have no default."""

import inspect

import numpy as np
import pytest

from privatemail import (
    BudgetError,
    Ledger,
    PrivacyError,
    Release,
    continue_,
    privatize,
    sensitivity,
)

NEEDED = {
    "epsilon": 1.0,
    "delta": 1e-6,
    "relation": "replace-one",
    "label_mode": "dropped",
    "unit": "rows",
    "ledger": None,
}


def rows(n=60):
    return np.random.RandomState(0).normal(size=(n, 5)).astype(np.float32)


def released(**changes):
    settings = {**NEEDED, "uncounted": True, "normalize_rows": True, "sigma": 1.0, **changes}
    return privatize(rows(), **settings)


def test_release():
    release = released()
    assert isinstance(release, Release)
    assert release.points().shape == (60, 2)
    again = released()
    assert not np.array_equal(release.points(), again.points())  # the noise is new each time
    assert Release.from_bytes(release.to_bytes()).points().tolist() == release.points().tolist()


@pytest.mark.parametrize("name", sorted(NEEDED))
def test_every_needed_setting_is_needed(name):
    parameter = inspect.signature(privatize).parameters[name]
    assert parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty
    settings = {**NEEDED, "uncounted": True, "normalize_rows": True, "sigma": 1.0}
    del settings[name]
    with pytest.raises(TypeError, match=name):
        privatize(rows(), **settings)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epsilon", 0),
        ("epsilon", None),
        ("epsilon", -1.0),
        ("epsilon", float("nan")),
        ("delta", 0),
        ("delta", 1.5),
        ("relation", None),
        ("relation", "all"),
        ("label_mode", None),
        ("label_mode", "kept"),
        ("uncounted", False),
        ("sigma", None),
    ],
)
def test_settings_that_are_refused(name, value):
    word = {"label_mode": "label", "uncounted": "ledger", "sigma": "sigma or gamma"}.get(name, name)
    with pytest.raises(PrivacyError, match=f"(?i){word}"):
        released(**{name: value})


def test_public_labels_need_a_relation_with_public_labels():
    settings = {**NEEDED, "uncounted": True, "normalize_rows": True, "sigma": 1.0}
    y = np.arange(60) % 3
    with pytest.raises(PrivacyError):
        privatize(rows(), y, **{**settings, "label_mode": "public"}, alpha=0.5, classes=3)
    release = privatize(
        rows(),
        y,
        **{**settings, "label_mode": "public", "relation": "features-replace"},
        alpha=0.5,
        classes=3,
    )
    one = continue_(release, y, mean_neighbours=10).points
    other = continue_(release, np.sort(y), mean_neighbours=10).points
    assert one.shape == (60, 2) and not np.array_equal(one, other)


def test_ledger_pays_until_it_is_empty(tmp_path):
    with Ledger.create(tmp_path / "ledger", epsilon=1.5, delta=1e-5, kind="gdp") as ledger:
        released(ledger=ledger, uncounted=False, new_unit=True)
        for unit in (None, "", "others"):  # the last is an unknown name
            with pytest.raises(PrivacyError):
                released(ledger=ledger, uncounted=False, unit=unit)
        with pytest.raises(BudgetError):
            for _ in range(10):
                released(ledger=ledger, uncounted=False)


def test_continue_reads_the_release_alone():
    release = released()
    first = continue_(release, mean_neighbours=10, steps=3)
    again = continue_(Release.from_bytes(release.to_bytes()), mean_neighbours=10, steps=3, n_jobs=1)
    np.testing.assert_array_equal(first.points, again.points)
    assert first.points.shape == (60, 2)


def test_sensitivity_knows_the_noise_of_a_release():
    settings = {"epsilon": 1.0, "delta": 1e-6, "relation": "replace-one"}
    said = sensitivity(60, 5, sigma=1.0, **settings)
    assert released().describe()["privacy"]["sigma"] == said["sigma"]
    tighter = sensitivity(60, 5, sigma=1.0, **{**settings, "epsilon": 0.5})
    assert tighter["sigma"] > 1.5 * said["sigma"]
    for name in settings:
        with pytest.raises(TypeError, match=name):
            sensitivity(60, 5, sigma=1.0, **{k: v for k, v in settings.items() if k != name})
