"""Effects of a process on a library in it: signals, threads and loading.

Every case runs in a separate process. A call that would take days shows that it was ended.
"""

from __future__ import annotations

import signal

import pytest
from conftest import ROWS


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


# After the library has returned, more signals come before the call ends.
SLOW = """
import time
from privatemail import _call
from privatemail.exceptions import CancelledError, SpentError
here, ended = _call.Call._here, []
def slow(self, function, arguments):
    error = here(self, function, arguments)
    for _ in range(3):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)
    ended.append(error)
    return SpentError("paid") if sys.argv[1] == "paid" else error
engine = Engine()
small(engine)
_call.Call._here = slow
threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    endless(engine)
except KeyboardInterrupt as error:
    caught = error
assert len(ended) == 1 and isinstance(ended[0], CancelledError), ended
"""


def test_ctrl_c_again_does_not_leave_a_call_behind(child):
    """The library uses the caller's arrays until the call has ended."""
    child(ROWS + SLOW + "assert caught.__cause__ is None", "plain")


def test_ctrl_c_tells_of_an_error_that_says_more(child):
    child(ROWS + SLOW + "assert isinstance(caught.__cause__, SpentError)", "paid")


def test_ctrl_c_before_a_call_begins(child):
    """The thread of the call starts after the wait was abandoned: it does nothing."""
    child(
        ROWS
        + """
from privatemail import _call
engine = Engine()
small(engine)
threads, called = [], []
Timer, Thread = threading.Timer, threading.Thread
def later(thread):
    Thread.start(thread)
class Late(Thread):
    def start(self):
        threads.extend([Timer(0.1, later, (self,)), self])
        threads[0].start()
        raise KeyboardInterrupt
threading.Thread = Late
_call.Call._here = lambda *arguments: called.append(arguments)
try:
    small(engine)
except KeyboardInterrupt:
    pass
else:
    sys.exit(1)
for thread in threads:
    thread.join()
assert not called
"""
    )


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
        raise Second  # a handler may also end the call
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
# The main thread works while the call runs in another thread, and then it ends that call.
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
# It is still loaded, with its threads.
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
