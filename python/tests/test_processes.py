"""Processes that are forked and spawned, before and after the library was loaded."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import urllib.request

import pytest
from conftest import ROWS, TIMEOUT


def test_fork_after_the_first_call(child):
    done = child(
        ROWS
        + """
engine = Engine()
wanted = small(engine)
pid = os.fork()
if pid == 0:
    signal.alarm(60)  # instead of a hang
    for use in (lambda: small(engine), lambda: small(Engine()), lambda: engine.workers):
        try:
            use()
        except ForkedError as error:
            assert "spawn" in str(error) and error.status == 20
        else:
            os._exit(1)
    # The package raises before the library is called, and the library itself refuses too.
    from privatemail import _library
    import ctypes
    try:
        _library.get()
    except ForkedError:
        pass
    else:
        os._exit(3)
    handle = ctypes.c_void_p()
    if _library._library.pm_engine_new(None, ctypes.byref(handle)) != 20:
        os._exit(2)
    engine.close()
    print("child", flush=True)
    sys.exit(0)  # through the end of the interpreter, where objects are freed
assert os.waitpid(pid, 0)[1] == 0
assert (small(engine) == wanted).all()
print("parent")
"""
    )
    assert done.stdout == "child\nparent\n"


def test_fork_before_the_first_call(child):
    child(
        ROWS
        + """
engine = Engine(n_jobs=1)
pid = os.fork()
points = small(engine)
if pid == 0:
    os._exit(0 if points.shape == (200, 2) else 1)
assert os.waitpid(pid, 0)[1] == 0
"""
    )


def test_fork_while_another_thread_is_about_to_load(child):
    child(
        ROWS
        + """
from privatemail import _library
_library._lock.acquire()  # as a thread does that will not exist in the child
pid = os.fork()
if pid == 0:
    signal.alarm(60)  # instead of a hang
    os._exit(0 if small(Engine()).shape == (200, 2) else 1)
assert os.waitpid(pid, 0)[1] == 0
"""
    )


def test_multiprocessing(child):
    child(
        ROWS
        + """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor

def use(n_jobs):
    return small(Engine(n_jobs=n_jobs)).tobytes()

if __name__ == "__main__":
    engine = Engine()
    wanted = small(engine).tobytes()
    spawn = multiprocessing.get_context("spawn")
    with spawn.Pool(2) as pool:
        assert pool.map(use, [1, 2]) == [wanted] * 2
        # An engine is passed to the process as its parameters.
        assert (pool.apply(small, (engine,)).tobytes()) == wanted
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        assert pool.submit(use, 1).result() == wanted
    with multiprocessing.get_context("fork").Pool(2) as pool:
        try:
            pool.map(use, [1, 2])
        except ForkedError as error:
            assert "spawn" in str(error)
        else:
            sys.exit(1)
    assert small(engine).tobytes() == wanted
"""
    )


def test_loky(child):
    child(
        ROWS
        + """
if __name__ == "__main__":
    from sklearn.datasets import load_digits
    from sklearn.model_selection import cross_val_score
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from privatemail import SupervisedEmbedding
    small(default_engine())
    X, y = load_digits(return_X_y=True)
    pipeline = make_pipeline(SupervisedEmbedding("discriminate", n_jobs=1), KNeighborsClassifier(1))
    scores = cross_val_score(pipeline, X, y, n_jobs=2, cv=4)
    assert (scores > 0.85).all(), scores
    assert (scores == cross_val_score(pipeline, X, y, cv=4)).all()
"""
    )


# The application that gunicorn loads before it forks its workers: an estimator from its file, one
# from its pickle, and an engine. The workers use them.
APP = """
import pickle
import numpy as np
from privatemail import Engine, SupervisedEmbedding

engine = Engine(n_jobs=1)
loaded = SupervisedEmbedding.load("model")
with open("pickle", "rb") as file:
    pickled = pickle.load(file)
X = np.load("rows.npy")

def app(environ, start_response):
    images = [loaded.transform(X), pickled.transform(X), engine.embed(X, sigma=1.0).points]
    start_response("200 OK", [("Content-Type", "application/octet-stream")])
    return [image.astype(np.float32).tobytes() for image in images]
"""

FIT = """
import pickle
import numpy as np
from privatemail import Engine, SupervisedEmbedding

X = np.random.default_rng(3).standard_normal((90, 5)).astype(np.float32)
fitted = SupervisedEmbedding("discriminate").fit(X, np.arange(90) % 3)
fitted.save("model")
with open("pickle", "wb") as file:
    pickle.dump(fitted, file)
np.save("rows.npy", X[:4])
with open("answer", "wb") as file:
    file.write(2 * fitted.transform(X[:4]).astype(np.float32).tobytes())
    file.write(Engine().embed(X[:4], sigma=1.0).points.tobytes())
"""


def test_gunicorn_preload(child, tmp_path):
    child(FIT)
    (tmp_path / "app.py").write_text(APP)
    server = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", "--preload", "--workers", "2", "--graceful-timeout", "5",
         "--bind", "127.0.0.1:0", "app:app"],  # fmt: skip
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )
    try:
        lines = []
        for line in server.stderr:
            lines.append(line)
            address = re.search(r"Listening at: (http://127\.0\.0\.1:\d+)", line)
            if address:
                break
        else:
            pytest.fail("gunicorn does not listen:\n" + "".join(lines))
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        for _ in range(8):
            with opener.open(address.group(1), timeout=TIMEOUT) as answer:
                assert answer.read() == (tmp_path / "answer").read_bytes()
    finally:
        server.send_signal(signal.SIGTERM)
        rest = server.communicate(timeout=TIMEOUT)[1]
        print(rest)  # pytest shows it if a test fails
    assert server.returncode == 0, rest
