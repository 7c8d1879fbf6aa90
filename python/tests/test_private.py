"""Releases, ledgers and costs."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

from privatemail.engine import Engine
from privatemail.exceptions import (
    BudgetError,
    BusyError,
    Error,
    FileError,
    HandleError,
    LabelsError,
    PrivacyError,
    SettingError,
    ShapeError,
    SpentError,
    SystemCallError,
)
from privatemail.ledger import Ledger
from privatemail.release import Release

# Settings of a release that is private.
STEP = dict(
    epsilon=1.0,
    delta=1e-6,
    relation="features-replace",
    label_mode="public",
    unit="album",
    sigma=6.0,
)


@pytest.fixture(scope="module")
def engine():
    with Engine(n_jobs=2) as engine:
        yield engine


def rows(n=60) -> np.ndarray:
    X = np.random.default_rng(2).standard_normal((n, 5)).astype(np.float32)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def release(engine):
    return engine.privatize(
        rows(), np.arange(60) % 3, uncounted=True, new_unit=True, alpha=0.6, classes=3, **STEP
    )


def test_sensitivity(engine, release):
    report = engine.sensitivity(
        60, 5, epsilon=1.0, delta=1e-6, relation="features-replace", sigma=6.0, alpha=0.6, classes=3
    )
    assert report and isinstance(report, dict)
    with pytest.raises(PrivacyError, match="relation"):
        engine.sensitivity(60, 5, epsilon=1.0, delta=1e-6, relation="neighbours", sigma=6.0)


def test_release(release, tmp_path):
    assert release.shape == (60, 2)
    points = release.points()
    assert points.shape == (60, 2) and points.dtype == np.float64 and points.any()
    described = release.describe()
    assert described and "grid" not in described
    data = release.to_bytes()
    path = tmp_path / "step.release"
    path.write_bytes(b"old")
    release.save(path)
    assert path.read_bytes() == data
    assert [entry.name for entry in tmp_path.iterdir()] == ["step.release"]
    for other in (
        Release.open(path), Release.from_bytes(data), pickle.loads(pickle.dumps(release))
    ):
        assert (other.points() == points).all()
        assert other.describe() == described and other.to_bytes() == data


def test_save_that_fails_leaves_nothing(release, tmp_path, monkeypatch):
    (tmp_path / "step.release").write_bytes(b"old")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        release.save(tmp_path / "step.release")
    assert [entry.name for entry in tmp_path.iterdir()] == ["step.release"]
    assert (tmp_path / "step.release").read_bytes() == b"old"


def test_hostile_releases(release):
    data = release.to_bytes()
    for wrong in [b"", b"x", data[:-1], data[:40], data + b"x", b"\xff" * len(data)]:
        with pytest.raises(Error):
            Release.from_bytes(wrong)
    for place in range(0, len(data), max(1, len(data) // 61)):
        changed = bytearray(data)
        changed[place] ^= 0x10
        with pytest.raises(FileError):
            Release.from_bytes(changed)


def test_noise_is_fresh(engine, release):
    """The same rows, settings and seed give other noise, since the seed is for the public start."""
    again = engine.privatize(
        rows(), np.arange(60) % 3, uncounted=True, new_unit=True, alpha=0.6, classes=3, **STEP
    )
    assert (again.points() != release.points()).any(axis=1).all()


def test_continue(engine, release):
    y = np.arange(60) % 3
    points, report = engine.continue_(release, y, steps=3)
    assert points.shape == (60, 2) and points.dtype == np.float32 and np.isfinite(points).all()
    assert (engine.continue_(release, y, steps=3).points == points).all()
    assert (engine.continue_(release, y, steps=3, coefficient=0.6).points == points).all()
    assert (engine.continue_(release, y, steps=3, coefficient=0.0).points != points).any()
    with pytest.raises(ShapeError):
        engine.continue_(release, y[:5])
    with pytest.raises(TypeError, match="secret"):
        engine.continue_(release, y, secret=3)


@pytest.mark.parametrize("name", ["epsilon", "delta", "relation", "label_mode", "unit"])
def test_what_privacy_needs_has_no_default(engine, tmp_path, name):
    given = {key: value for key, value in STEP.items() if key != name}
    with Ledger.create(tmp_path / "budget", epsilon=9, delta=1e-5, kind="gdp") as ledger:
        if name != "unit":  # which is needed if a ledger pays
            with pytest.raises(TypeError, match=name):
                engine.privatize(rows(), np.zeros(60, int), ledger=ledger, new_unit=True, **given)
        before = ledger.describe()
        with pytest.raises(PrivacyError, match=name):
            engine.privatize(
                rows(),
                np.zeros(60, int),
                ledger=ledger,
                new_unit=True,
                **dict(given, **{name: None}),
            )
        assert ledger.describe() == before
        with pytest.raises(PrivacyError, match="uncounted"):
            engine.privatize(rows(), ledger=ledger, uncounted=True, **STEP)


def test_a_ledger_is_required(engine):
    with pytest.raises(PrivacyError, match="ledger"):
        engine.privatize(rows(), new_unit=True, **STEP)
    with pytest.raises(TypeError, match="ledger"):
        engine.privatize(rows(), new_unit=True, ledger="budget", **STEP)


@pytest.mark.parametrize("value", [2, -1, "yes", None])
def test_flags_of_privacy_are_flags(engine, value):
    with pytest.raises(SettingError, match="uncounted"):
        engine.privatize(rows(), new_unit=True, uncounted=value, **STEP)


def test_ledger(engine, tmp_path):
    path = tmp_path / "budget"
    with Ledger.create(path, epsilon=1.5, delta=1e-5, kind="gdp") as ledger:
        before = ledger.describe()
        assert (before["kind"], before["epsilon"], before["delta"]) == ("gdp", 1.5, 1e-5)
        with pytest.raises(BusyError):
            Ledger.open(path)
        with pytest.raises(PrivacyError):
            engine.privatize(rows(), ledger=ledger, **STEP)  # the unit is unknown
        engine.privatize(rows(), ledger=ledger, new_unit=True, **STEP)
        after = ledger.describe(unit="album")
        assert after["head"] != before["head"]
        assert after["unit"]["epsilon_spent"] > 0 and after["unit"]["remaining"]["rho"] > 0
        with pytest.raises(BudgetError):
            engine.privatize(rows(), ledger=ledger, **dict(STEP, epsilon=1.4))
        assert ledger.describe(unit="album") == after
    with pytest.raises(HandleError):
        engine.privatize(rows(), ledger=ledger, **STEP)
    Ledger.open(path, head=after["head"]).close()
    with pytest.raises(Error):
        Ledger.open(path, head="")
    with pytest.raises(SystemCallError):
        Ledger.create(path, epsilon=1.5, delta=1e-5, kind="gdp")


def test_another_relation_is_refused(engine, tmp_path):
    with Ledger.create(tmp_path / "budget", epsilon=2, delta=1e-6, kind="gdp") as ledger:
        first = dict(STEP, epsilon=1, delta=1e-6, relation="replace-one", label_mode="dropped")
        second = dict(first, epsilon=1.4, relation="features-replace")
        engine.privatize(rows(), ledger=ledger, new_unit=True, **first)
        before = ledger.describe(unit="album")
        assert before["unit"]["protects"] == "replace-one"
        for change in [second, dict(first, records=20), dict(first, private_rows=[3])]:
            with pytest.raises(PrivacyError, match="another relation"):
                engine.privatize(rows(), ledger=ledger, **change)
        assert ledger.describe(unit="album") == before
        engine.privatize(rows(), ledger=ledger, other_relation=True, **second)
        after = ledger.describe(unit="album")["unit"]
        assert after["protects"] == "features-replace"
        assert [(part["protects"], part["spends"]) for part in after["subtotals"]] == [
            ("replace-one", 1),
            ("features-replace", 2),
        ]
        assert "none" not in str(after)
        with pytest.raises(PrivacyError, match="unknown unit"):
            ledger.describe(unit="albums")


def test_ledger_that_was_put_back(engine, tmp_path):
    path = tmp_path / "budget"
    Ledger.create(path, epsilon=5, delta=1e-5, kind="gdp").close()
    old = path.read_bytes()
    with Ledger.open(path) as ledger:
        engine.privatize(rows(), ledger=ledger, new_unit=True, **STEP)
        head = ledger.describe()["head"]
    path.write_bytes(old)
    with pytest.raises(FileError):
        Ledger.open(path, head=head)


def test_ledgers_do_not_pickle(tmp_path):
    with Ledger.create(tmp_path / "budget", epsilon=1, delta=1e-6, kind="gdp") as ledger:
        with pytest.raises(TypeError, match="twice"):
            pickle.dumps(ledger)


def test_labels_are_checked(engine):
    with pytest.raises(LabelsError):
        engine.privatize(
            rows(), np.full(60, 7), uncounted=True, new_unit=True, alpha=0.6, classes=3, **STEP
        )


def test_what_was_paid_for_is_not_lost(engine, monkeypatch):
    """Any exception after the ledger has paid has the release."""
    from privatemail import _call

    run = _call.Call.run
    for kind in (KeyboardInterrupt, SpentError):

        def interrupted(self, *arguments):
            run(self, *arguments)
            raise kind

        monkeypatch.setattr(_call.Call, "run", interrupted)
        with pytest.raises(kind) as caught:
            engine.privatize(rows(), uncounted=True, new_unit=True, **STEP)
        assert caught.value.release.shape == (60, 2)


def test_what_was_paid_for_is_not_lost_between_the_call_and_the_return(engine):
    """Ctrl-C comes after the call, at any remaining line of privatize."""
    import inspect
    import sys

    source, first = inspect.getsourcelines(Engine.privatize)
    last = first + next(i for i, line in enumerate(source) if "return Release(handle)" in line)

    def trace(frame, event, argument):
        if frame.f_code is Engine.privatize.__code__:
            return local
        return None

    def local(frame, event, argument):
        if event == "line" and frame.f_lineno == last:
            raise KeyboardInterrupt
        return local

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with pytest.raises(KeyboardInterrupt) as caught:
            engine.privatize(rows(), uncounted=True, new_unit=True, **STEP)
    finally:
        sys.settrace(before)
    assert caught.value.release.shape == (60, 2)


@pytest.mark.parametrize(
    "name, value",
    [
        ("form", "attract"),
        ("start", np.ones((60, 2), np.float32)),
        ("seed", 3),
        ("n_components", 2),
        ("normalize_rows", True),
        ("table", "equal"),
        ("sigma_q", 1.0),
        ("allow_unlabelled", True),
    ],
)
def test_keywords_that_later_steps_do_not_read_are_refused(engine, release, name, value):
    with pytest.raises(TypeError, match=name):
        engine.continue_(release, **{name: value})


@pytest.mark.parametrize(
    "given, text",
    [
        (dict(epsilon=10.1), "no meaningful formal protection"),
        (dict(delta=1.1e-3), "no meaningful formal protection"),
        (dict(delta=1e-3, rows=110), "there are 110 rows"),
        (
            dict(
                epsilon=4.0,
                relation="replace-one",
                label_mode="randomised",
                label_epsilon=3.5,
                records=2,
            ),
            "epsilon 11 and",
        ),
    ],
)
def test_a_guarantee_that_means_little_is_told_of_before_it_is_paid(
    engine, tmp_path, given, text
):
    given = dict(STEP, **given)
    X = rows(given.pop("rows", 60))
    y = np.arange(len(X)) % 3
    total = dict(epsilon=50, delta=0.05, kind="mixed", pure_epsilon=20)
    with Ledger.create(tmp_path / "budget", **total) as ledger:
        before = ledger.describe()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(UserWarning, match=text):
                engine.privatize(X, y, ledger=ledger, new_unit=True, alpha=0.5, classes=3, **given)
        assert ledger.describe() == before
        with pytest.warns(UserWarning, match=text):
            engine.privatize(X, y, ledger=ledger, new_unit=True, alpha=0.5, classes=3, **given)
        assert ledger.describe() != before


def test_other_guarantees_are_not_warned_of(engine):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        engine.privatize(
            rows(), uncounted=True, new_unit=True, **dict(STEP, epsilon=10.0, delta=1e-3)
        )


def test_later_steps_need_a_release(engine):
    with pytest.raises(TypeError, match="want a Release"):
        engine.continue_(rows())


def test_save_replaces_regular_files_alone(release, tmp_path):
    """A device, a pipe or a folder is not replaced, and a link stays a link."""
    import os
    import stat

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path):
        with pytest.raises(SystemCallError, match="not a regular file"):
            release.save(path)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    release.save(link)
    assert link.is_symlink() and target.read_bytes() == release.to_bytes()


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_save_that_fails_leaves_the_old_file(release, tmp_path, monkeypatch, step):
    import os

    path = tmp_path / "step.release"
    path.write_bytes(b"old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="space"):
        release.save(path)
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["step.release"]


def test_save_is_on_the_disk_when_it_returns(release, tmp_path, monkeypatch):
    """The bytes are synced before the rename, and the name before the return."""
    import os

    done = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(
        os, "fsync", lambda f: (done.append(os.path.isdir(f"/proc/self/fd/{f}")), fsync(f))
    )
    monkeypatch.setattr(os, "replace", lambda *paths: (done.append("name"), replace(*paths)))
    release.save(tmp_path / "step.release")
    assert done == [False, "name", True]


def test_pure_epsilon_of_a_ledger(tmp_path):
    with Ledger.create(tmp_path / "budget", epsilon=1, delta=1e-6, pure_epsilon=0.25) as ledger:
        assert ledger.describe()["pure_epsilon"] == 0.25
