"""Keywords become fields in the structs of pm.h."""

from __future__ import annotations

import ctypes
import inspect

import numpy as np
import pytest

from privatemail import _header, _settings
from privatemail._base import workers
from privatemail.engine import Engine, default_engine
from privatemail.exceptions import SettingError

FULL = dict(
    sigma=1.5, gamma=2.5, mean_neighbours=3.5, n_neighbors=4, radius=5.5, cutoff_weight=0.25,
    tolerance=1e-3, operator="csr", isolated="keep", normalize_rows=True, allow_unlabelled=True,
    form="attract", coefficient=0.5, table="equal", n_components=7, steps=8, sigma_q=9.5,
    seed=10, stop=0.125, normalize="none",
)  # fmt: skip


def fields(struct) -> dict:
    return {name: getattr(struct, name) for name, _ in struct._fields_}


def encoded(values: dict) -> dict:
    return {k: v.encode() if isinstance(v, str) else v for k, v in values.items()}


def test_every_field():
    given = _settings.Settings(dict(FULL, start=np.ones((3, 2), np.float32)))
    got = fields(given.struct)
    assert got.pop("struct_size") == ctypes.sizeof(_header.Settings)
    start = got.pop("start").contents
    assert (start.rows, start.cols, start.stride) == (3, 2, 2)
    renamed = {"n_neighbors": "neighbours", "operator": "op", "n_components": "dim"}
    wanted = {renamed.get(name, name): value for name, value in FULL.items()}
    assert got == encoded(wanted)


def test_every_private_field():
    full = dict(
        epsilon=1.5, delta=2.5, relation="null", label_mode="public", label_epsilon=3.5, unit="a",
        unit_kind="client", new_unit=True, other_relation=True, normalize_rows=True,
        rest_public=True, uncounted=True, records=4, rule="classical", sigma=5.5, gamma=6.5,
        alpha=7.5, table="equal", classes=8, n_components=9, sigma_q=10.5, seed=11,
        operator="dense", radius=12.5,
    )  # fmt: skip
    given = _settings.Private(dict(full, private_rows=[3, 1]))
    got = fields(given.struct)
    assert got.pop("struct_size") == ctypes.sizeof(_header.PrivateSettings)
    assert got.pop("private_count") == 2
    assert list((ctypes.c_int64 * 2).from_address(got.pop("private_rows"))) == [3, 1]
    renamed = {"operator": "op", "n_components": "dim"}
    wanted = {renamed.get(name, name): value for name, value in full.items()}
    assert got == encoded(wanted)


def test_private_flags_are_off_unless_given():
    got = fields(_settings.Private({}).struct)
    assert got["seed"] == 1
    for name in [
        "epsilon",
        "delta",
        "new_unit",
        "other_relation",
        "uncounted",
        "rest_public",
        "normalize_rows",
        "private_count",
        "records",
    ]:
        assert got[name] == 0, name
    for name in ["relation", "label_mode", "unit", "private_rows"]:
        assert got[name] is None, name


def test_none_is_the_default():
    keywords = {
        name: None for name in FULL if name not in ("normalize_rows", "allow_unlabelled", "seed")
    }
    assert fields(_settings.Settings(dict(keywords, seed=0)).struct)["seed"] == 0
    got = fields(_settings.Settings(keywords).struct)
    assert got["seed"] == 1
    for name in ("struct_size", "seed", "start"):
        del got[name]
    assert not any(got.values())


@pytest.mark.parametrize(
    "name, value",
    [
        ("sigma", 0), ("gamma", 0.0), ("n_neighbors", 0), ("steps", 0), ("n_components", 0),
        ("tolerance", 0),
        ("n_neighbors", 2**64 + 3), ("n_neighbors", -(2**64)), ("n_neighbors", 3.0),
        ("n_neighbors", "3"),
        ("sigma", "1"), ("sigma", [1, 2]), ("sigma", 10**400), ("coefficient", b"1"),
        ("form", 3), ("form", "pap\0er"), ("form", b"paper"), ("form", "\ud800"),
        ("seed", None), ("seed", 1.5), ("normalize_rows", None), ("normalize_rows", "yes"),
        ("normalize_rows", 2),
    ],
)  # fmt: skip
def test_refused(name, value):
    with pytest.raises(SettingError, match=f"^{name} "):
        _settings.Settings({name: value})


def test_unknown_keyword():
    with pytest.raises(TypeError, match="unexpected keyword argument 'sigmas'"):
        _settings.Settings({"sigmas": 1})


@pytest.mark.parametrize(
    "value, wanted", [(-1, 2**64 - 1), (2**64 + 5, 5), (np.int64(-2), 2**64 - 2), (np.uint8(3), 3)]
)
def test_any_integer_is_a_seed(value, wanted):
    assert _settings.Settings({"seed": value}).struct.seed == wanted


@pytest.mark.parametrize("value", [[[1]], [1.5], [], np.array([2**63], np.uint64)])
def test_private_rows_refused(value):
    with pytest.raises(SettingError, match="private_rows"):
        _settings.Private({"private_rows": value})


def test_columns():
    start = np.ones((3, 5), np.float32)
    for keywords, reduces, wanted in [
        ({}, False, 2),
        ({"n_components": 3}, False, 3),
        ({"form": "attract"}, False, 11),
        ({"form": "attract", "n_components": 3}, True, 3),
        ({"form": "attract", "start": start}, False, 5),
        ({"start": start}, False, 5),
    ]:
        assert _settings.Settings(keywords).columns(11, reduces) == wanted


def test_workers(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: set(range(8)))
    assert [workers(n) for n in (None, -1, 1, 5, -2, -8, -9, -100)] == [0, 0, 1, 5, 7, 1, 1, 1]
    for wrong in (0, 2**31, 1.5, "2"):
        with pytest.raises(SettingError, match="n_jobs"):
            Engine(n_jobs=wrong)
    for wrong in (0, -1, 1.5, 2**63):
        with pytest.raises(SettingError, match="max_memory"):
            Engine(max_memory=wrong)


def test_default_engines():
    assert default_engine() is default_engine(n_jobs=-1)
    assert default_engine(n_jobs=2) is not default_engine(n_jobs=3)
    assert default_engine(max_memory=1 << 30) is not default_engine()
    assert default_engine(verbose=True) is default_engine(verbose=1) is not default_engine()
    assert default_engine(verbose=print) is not default_engine(verbose=print)


# Keywords that are not settings, by method.
OTHERS = {"self", "X", "queries", "y", "out", "weights", "ledger"}


@pytest.mark.parametrize("method", ["embed", "graph", "operator", "privatize"])
def test_every_keyword_of_a_method_reaches_its_settings(method, monkeypatch):
    class Seen(Exception):
        pass

    def see(keywords, *_, **__):
        raise Seen(keywords)

    monkeypatch.setattr(_settings, "Settings", see)
    monkeypatch.setattr(_settings, "Private", see)
    names = set(inspect.signature(getattr(Engine, method)).parameters) - OTHERS
    wanted = {name: object() for name in names}
    with pytest.raises(Seen) as caught:
        getattr(Engine(), method)(np.zeros((2, 2), np.float32), **wanted)
    assert caught.value.args[0] == wanted
