"""Calls that are known to be short start no thread; potentially long ones can be interrupted."""

import threading

import numpy as np
import pytest

from privatemail import Engine, _call
from privatemail.exceptions import NonFiniteError, OutOfMemoryError

RNG = np.random.default_rng(3)
X = RNG.standard_normal((300, 8)).astype(np.float32)
Y = RNG.integers(0, 3, 300)
ROW = RNG.standard_normal((1, 8)).astype(np.float32)


@pytest.fixture
def threads(monkeypatch):
    """The threads that calls have started."""
    started = []

    class Noted(threading.Thread):
        def start(self):
            started.append(self)
            super().start()

    monkeypatch.setattr(_call.threading, "Thread", Noted)
    return started


def short_calls(engine):
    model = engine.fit(X, Y, recipe="discriminate", measure=False)
    product = engine.operator(X, sigma=1.0)
    vector = np.ones((300, 1), np.float32)
    return {
        "transform": lambda row: model.transform(row, engine=engine),
        "nearest": lambda row: engine.nearest(X, row, k=3)[0],
        "extend": lambda row: engine.extend(X, X[:, :2], row, k=3),
        "apply": lambda row: product.apply(vector * row[0, 0]),
    }


@pytest.mark.parametrize("name", ["transform", "nearest", "extend", "apply"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_row_starts_no_thread(threads, name, dtype):
    with Engine() as engine:
        call = short_calls(engine)[name]
        assert threads  # fit was a long call
        del threads[:]
        made = call(ROW.astype(dtype))
        assert not threads
        # The same bits as in a long call, which reports its progress.
        engine.verbose = lambda stage, done, total: None
        np.testing.assert_array_equal(call(ROW.astype(dtype)), made)
        assert len(threads) == 1


def test_calls_that_can_be_long_start_one(threads):
    with Engine() as engine:
        engine.embed(X, sigma=1.0, sigma_q=1.0)
        engine.converge(X, sigma=1.0)
        engine.graph(X, sigma=1.0)
        engine.fit(X, Y, recipe="raw", measure=False)
        assert len(threads) == 4
        many = np.zeros((_call._SHORT // X.size + 1, X.shape[1]), np.float32)
        engine.nearest(X, many, k=1)
        assert len(threads) == 5


def test_errors_and_memory_of_short_calls(threads):
    with Engine(max_memory=60 << 10) as engine:
        with pytest.raises(NonFiniteError):
            engine.nearest(X, np.full((1, 8), np.nan, np.float32), k=3)
        engine.nearest(X[:200], np.zeros((1000, 8), np.float32), k=1)
        with pytest.raises(OutOfMemoryError):  # a copy, which counts against the limit
            engine.nearest(X[:200], np.zeros((1000, 8)), k=1)
        assert not threads


def test_a_short_call_beside_a_long_one_can_be_interrupted(threads):
    """It may have to wait for the memory of the long one."""
    begun, stop = threading.Event(), threading.Event()

    def told(stage, done, total):
        begun.set()
        if stop.is_set():
            raise StopIteration

    def work():
        with pytest.raises(StopIteration):
            engine.embed(X, sigma=1.0, operator="dense", steps=10**9)

    with Engine() as engine:
        call = short_calls(engine)["nearest"]
        wanted = call(ROW)
        engine.verbose = told
        other = threading.Thread(target=work)
        other.start()
        begun.wait()
        engine.verbose = False
        del threads[:]
        try:
            np.testing.assert_array_equal(call(ROW), wanted)
            assert len(threads) == 1
        finally:
            stop.set()
            other.join()
        del threads[:]
        call(ROW)
        assert not threads and not engine._running
