"""What a process does to a library in it: signals, threads, forks and loading.

Every case runs in a process of its own. A call that would take days shows that it was ended.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import urllib.request

import pytest
from conftest import TIMEOUT

# Rows, and a call that takes days unless somebody ends it.
ROWS = """
import os, signal, sys, threading
import numpy as np
from privatemail.engine import Engine, default_engine
from privatemail.exceptions import Error, ForkedError

def rows(n=200, d=4):
    return np.random.default_rng(7).standard_normal((n, d)).astype(np.float32)

def small(engine):
    return engine.embed(rows(), sigma=1.0, sigma_q=1.0).points

def endless(engine):
    return engine.embed(rows(3000, 20), sigma=1.0, operator="dense", steps=10**9)
"""


def test_ctrl_c_ends_a_call(child):
    done = child(
        ROWS
        + """
engine = Engine(n_jobs=2)
wanted = small(engine)
for _ in range(3):
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        endless(engine)
    except KeyboardInterrupt:
        print("interrupted")
assert (small(engine) == wanted).all()
engine.close()
print("done")
"""
    )
    assert done.stdout == "interrupted\n" * 3 + "done\n"


def test_ctrl_c_from_a_terminal_ends_a_program(child):
    done = child(
        ROWS
        + """
def kill(stage, done, total):
    os.kill(os.getpid(), signal.SIGINT)
endless(Engine(verbose=kill))
""",
        expect=-signal.SIGINT,
    )
    assert "KeyboardInterrupt" in done.stderr


def test_handlers_of_python_run_during_a_call(child):
    child(
        ROWS
        + """
class Second(Exception):
    pass
heard = threading.Event()
threads = []
def handler(number, frame):
    threads.append(threading.current_thread() is threading.main_thread())
    if heard.is_set():
        raise Second  # a handler may end the call, too
    heard.set()
signal.signal(signal.SIGUSR1, handler)
def send():
    os.kill(os.getpid(), signal.SIGUSR1)
    heard.wait()
    os.kill(os.getpid(), signal.SIGUSR1)
threading.Timer(0.1, send).start()
try:
    endless(Engine())
except Second:
    assert threads == [True, True]
    sys.exit(0)
sys.exit(1)
"""
    )


def test_sigterm_still_kills(child):
    child(
        ROWS
        + """
endless(Engine(verbose=lambda *_: os.kill(os.getpid(), signal.SIGTERM)))
""",
        expect=-signal.SIGTERM,
    )


@pytest.mark.parametrize("order", ["before", "after"])
def test_faulthandler_reports_a_fault_of_others(child, order):
    done = child(
        ROWS
        + """
import faulthandler, ctypes
if sys.argv[1] == "before":
    faulthandler.enable()
small(Engine())
if sys.argv[1] == "after":
    faulthandler.enable()
ctypes.string_at(0)
""",
        order,
        expect=-signal.SIGSEGV,
    )
    assert "Fatal Python error: Segmentation fault" in done.stderr
    assert "string_at" in done.stderr


def test_exceptions_of_progress_reach_the_caller(child):
    child(
        ROWS
        + """
def fail(stage, done, total):
    raise LookupError("mine")
engine = Engine(verbose=fail)
def run(results):
    try:
        endless(engine)
    except LookupError as error:
        results.append(str(error))
results = []
run(results)
thread = threading.Thread(target=run, args=(results,))
thread.start()
thread.join()
assert results == ["mine", "mine"], results
"""
    )


def test_many_threads_one_engine_and_several(child):
    child(
        ROWS
        + """
wanted = small(Engine(n_jobs=1))
shared = Engine(n_jobs=2)
wrong = []
def work(i):
    own = Engine(n_jobs=1 + i % 3)
    for engine in (shared, own, default_engine(n_jobs=1 + i % 2)):
        for _ in range(5):
            if not (small(engine) == wanted).all():
                wrong.append(i)
    own.close()
threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert wrong == [], wrong
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as pool:
    assert all((points == wanted).all() for points in pool.map(small, [shared] * 16))
"""
    )


def test_calls_release_the_gil(child):
    child(
        ROWS
        + """
# The main thread gets on while the call runs in another thread, and then it ends that call.
begun, stop, ended = threading.Event(), threading.Event(), threading.Event()
def progress(stage, done, total):
    begun.set()
    if stop.is_set():
        raise StopAsyncIteration
def work():
    try:
        endless(Engine(verbose=progress))
    except StopAsyncIteration:
        ended.set()
thread = threading.Thread(target=work)
thread.start()
begun.wait()
sum(range(10**6))
stop.set()
thread.join()
assert ended.is_set()
"""
    )


def test_close_waits_and_later_calls_say_so(child):
    child(
        ROWS
        + """
from privatemail.exceptions import HandleError
engine = Engine()
small(engine)
engine.close()
engine.close()
try:
    small(engine)
except HandleError as error:
    assert "closed" in str(error)
else:
    sys.exit(1)
"""
    )


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
    # This package says so before the library is called, and the library itself says so, too.
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
    sys.exit(0)  # with the end of the interpreter, where objects are freed
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
        # An engine goes to the process by its parameters.
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


# What gunicorn loads before it forks its workers: an estimator by its file, one by its pickle, and
# an engine. The workers use them.
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
        print(rest)  # where a test fails pytest shows it
    assert server.returncode == 0, rest


def test_dlclose_is_refused(child):
    child(
        ROWS
        + """
import _ctypes, ctypes
from privatemail import _library
engine = Engine()
wanted = small(engine)
for _ in range(3):
    _ctypes.dlclose(_library.get()._handle)
# It is still there, with its threads.
assert (small(engine) == wanted).all()
assert (small(Engine()) == wanted).all()
"""
    )


def test_import_does_not_load_the_library(child):
    child(
        """
import privatemail
from privatemail.engine import Engine, default_engine
import pickle
engine = pickle.loads(pickle.dumps(Engine(n_jobs=3)))
default_engine()
with open("/proc/self/maps") as maps:
    assert "libprivatemail" not in maps.read()
engine.workers
with open("/proc/self/maps") as maps:
    assert "libprivatemail" in maps.read()
"""
    )


@pytest.mark.parametrize("how", ["plain", "raise", "exit in thread"])
def test_end_of_the_interpreter(child, how):
    done = child(
        ROWS
        + """
engine = Engine()
keep = [engine, engine.embed, small(engine)]
loop = [keep]; loop.append(loop)
if sys.argv[1] == "raise":
    raise SystemExit(0)
if sys.argv[1] == "exit in thread":
    threading.Thread(target=lambda: small(engine)).start()
""",
        how,
    )
    assert done.stderr == ""
