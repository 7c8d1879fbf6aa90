"""The output of verbose."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from privatemail import _progress
from privatemail.engine import Engine

X = np.random.default_rng(0).standard_normal((300, 4)).astype(np.float32)


@pytest.fixture
def no_tqdm(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)


def test_functions_are_told():
    seen = []
    Engine(verbose=lambda *told: seen.append(told)).embed(X, mean_neighbours=10, steps=3)
    assert {stage for stage, _, _ in seen} >= {"steps"}
    assert all(
        isinstance(stage, str) and 0 <= done <= max(total, done) for stage, done, total in seen
    )


def test_plain_lines(no_tqdm, capsys):
    show = _progress.Show()
    for done in range(0, 101):
        show("find", done, 100)
    show("steps", 0, 0)
    show("steps", 5, 0)
    show.close()
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"privatemail: find {percent} %" for percent in range(0, 101, 10)] + [
        "privatemail: steps 0 %"
    ]


def test_lines_of_a_call(no_tqdm, capsys):
    Engine(verbose=True).embed(X, mean_neighbours=10)
    assert "privatemail: steps" in capsys.readouterr().err


def test_bar_of_tqdm(capsys):
    Engine(verbose=True).embed(X, mean_neighbours=10)
    error = capsys.readouterr().err
    assert "steps" in error and "%" in error


def test_silence(capsys):
    Engine().embed(X, mean_neighbours=10)
    Engine(verbose=False).map(X, n_neighbors=5)
    assert capsys.readouterr() == ("", "")
    assert _progress.of(False) is None and _progress.of(0) is None
