"""Calls of the library: handles, cancellation by Ctrl-C, progress and reports.

Python runs signal handlers only on its main thread, between two of its instructions. A call of the
library is one instruction. So a potentially long call from the main thread runs on another thread,
while the main thread waits in a way that signals can interrupt. A call that is known to be short
runs on the main thread, since starting a thread takes longer than a row.
"""

from __future__ import annotations

import ctypes
import json
import math
import threading
from typing import Any, Callable, Dict, List, Optional

from . import _header, _library, _progress
from .exceptions import CancelledError, HandleError

# The main thread checks for signals at least once in this many seconds.
_LOOK = 0.05
# A call of at most this many multiplications takes a few milliseconds: it is short.
_SHORT = 1 << 22


class Handle:
    """A handle of the library that is freed once: by close, or with this object."""

    def __init__(self, kind: str):
        self._kind = kind
        self._pointer: Optional[ctypes.c_void_p] = ctypes.c_void_p()
        self._free = getattr(_library.get(), f"pm_{kind}_free")

    @property
    def new(self) -> Any:
        """The argument through which the library returns the handle."""
        return ctypes.byref(self._open())

    @property
    def value(self) -> ctypes.c_void_p:
        """The handle as an argument."""
        _library.get()  # raises ForkedError in the child of a fork
        return self._open()

    def _open(self) -> ctypes.c_void_p:
        if self._pointer is None:
            raise HandleError(f"the {self._kind} was closed")
        return self._pointer

    def __bool__(self) -> bool:
        return bool(self._pointer)

    def close(self) -> None:
        """Frees the handle. It waits for calls that use it."""
        pointer, self._pointer = self._pointer, None
        if pointer and _library.alive():
            self._free(pointer)

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # at the end of the interpreter, when modules are gone
            pass


class Call:
    """One call of the library.

    Parameters
    ----------
    verbose : bool or callable
    reserve : int
        The bytes of copies of its arguments.
    work : float
        The largest number of multiplications of the call. Infinity if it is unknown.
    others : list
        The running long calls of the same engine. A call may have to wait for their memory, and is
        then not short, however little it does.
    """

    def __init__(
        self,
        verbose: _progress.Verbose = False,
        reserve: int = 0,
        work: float = math.inf,
        others: Optional[List["Call"]] = None,
    ):
        self._library = _library.get()
        self._others = [] if others is None else others
        self._told = _progress.of(verbose)
        self._failed: Optional[BaseException] = None
        self._callback: Any = None  # kept: the library has its address
        self._short = work <= _SHORT and self._told is None and not self._others
        self._handle: Optional[Handle] = None
        if self._short and reserve == 0:
            return  # it is never cancelled, and its report is not read
        self._handle = Handle("call")
        _library.check(self._library.pm_call_new(self._handle.new))
        if reserve > 0:
            _library.check(self._library.pm_call_reserve(self._handle.value, reserve))
        if self._told is not None:
            self._callback = _header.Progress(self._tell)
            _library.check(
                self._library.pm_call_on_progress(self._handle.value, self._callback, None)
            )

    def run(self, name: str, *arguments: Any) -> None:
        """Calls the function of this name with the arguments and, as the last one, this call.

        It raises the exception of the status, that of a progress function, or that of a signal
        handler that ran meanwhile, such as KeyboardInterrupt for Ctrl-C.
        """
        function = getattr(self._library, name)
        if self._short:
            error = self._here(function, arguments)
        else:
            error = self._long(function, arguments)
        if self._failed is not None:
            raise self._failed
        if error is not None:
            raise error

    def _long(self, function: Callable[..., int], arguments: Any) -> Optional[BaseException]:
        try:
            self._others.append(self)
            if threading.current_thread() is threading.main_thread():
                return self._aside(function, arguments)
            return self._here(function, arguments)
        finally:
            if self in self._others:  # a signal may have come before the append
                self._others.remove(self)
            if isinstance(self._told, _progress.Show):
                self._told.close()

    def _here(self, function: Callable[..., int], arguments: Any) -> Optional[BaseException]:
        # The text of an error belongs to the thread of the call.
        status = function(*arguments, None if self._handle is None else self._handle.value)
        return None if status == _header.OK else _library.error(status)

    def _aside(self, function: Callable[..., int], arguments: Any) -> Optional[BaseException]:
        """Runs the function on another thread, and cancels it if the wait is interrupted.

        A signal handler may raise an exception between any two instructions of the main thread. So
        each flag is written by only one thread, and reading it needs no lock.
        """
        done = threading.Lock()
        done.acquire()
        state: Dict[str, Any] = {"begun": False, "left": False, "ended": False, "error": None}

        def work() -> None:
            state["begun"] = True
            try:
                if not state["left"]:
                    state["error"] = self._here(function, arguments)
            except BaseException as error:
                state["error"] = error
            finally:
                state["ended"] = True
                done.release()

        def wait() -> None:
            # Repeatedly with a timeout: a signal that comes just before the wait begins, or that
            # the system delivers to another thread, would not end a wait without one.
            while not state["ended"]:
                done.acquire(timeout=_LOOK)

        def leave() -> None:
            state["left"] = True
            if state["begun"]:
                self._library.pm_call_cancel(self._handle.value)
                wait()

        try:
            threading.Thread(target=work, name="privatemail", daemon=True).start()
            wait()
        except BaseException as interrupt:
            # The library still uses the memory of the arguments. A second Ctrl-C changes nothing.
            while True:
                try:
                    leave()
                    break
                except BaseException:
                    continue
            error = state["error"]
            if error is None or isinstance(error, CancelledError):
                raise
            raise interrupt from error  # it is more than the cancellation
        return state["error"]

    def _tell(self, stage: bytes, done: int, total: int, user: Any) -> None:
        if self._failed is not None or self._told is None:
            return
        try:
            self._told(stage.decode("utf-8", "replace"), done, total)
        except BaseException as error:  # the library cannot handle exceptions
            self._failed = error
            self._library.pm_call_cancel(self._handle.value)

    def report(self) -> Dict[str, Any]:
        """Returns the report of the last function that succeeded."""
        return describe(self._library.pm_call_report, self._handle.value)


def read(function: Callable[..., int], *arguments: Any) -> bytes:
    """Returns the bytes that a function writes to a buffer; it is asked for their number first.

    Texts come with the NUL at their end.
    """
    needed = ctypes.c_size_t()
    _library.check(function(*arguments, None, 0, ctypes.byref(needed)))
    while True:
        buffer = ctypes.create_string_buffer(needed.value)
        status = function(*arguments, buffer, len(buffer), ctypes.byref(needed))
        if status != _header.SIZE:  # otherwise it has grown meanwhile
            _library.check(status)
            return buffer.raw[: needed.value]


def describe(function: Callable[..., int], *arguments: Any) -> Dict[str, Any]:
    """Returns the JSON object that a function writes to a buffer."""
    return json.loads(read(function, *arguments).rstrip(b"\0"))
