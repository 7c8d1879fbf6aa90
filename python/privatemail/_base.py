"""The parameters and the handle of Engine, which all its methods share."""

from __future__ import annotations

import ctypes
import math
import os
import threading
from typing import List, Optional

from . import _call, _header, _library, _progress, _settings
from .exceptions import HandleError, SettingError

class EngineBase:
    """Parameters of an engine, and the engine of the library, which is created at its first use."""

    def __init__(
        self,
        n_jobs: Optional[int] = None,
        max_memory: Optional[int] = None,
        level: Optional[str] = None,
        measure: bool = False,
        verbose: _progress.Verbose = False,
    ):
        self.n_jobs = n_jobs
        if max_memory is not None:
            max_memory = _settings.integer(max_memory, "max_memory")
            if max_memory <= 0:
                raise SettingError("max_memory is not a positive number of bytes")
        self.max_memory = max_memory
        self.level = level
        self.measure = measure
        self.verbose = verbose
        self._options = _header.EngineOptions(
            struct_size=ctypes.sizeof(_header.EngineOptions),
            workers=workers(n_jobs),
            measure=_settings.flag(measure, "measure"),
            max_memory=self.max_memory or 0,
            level=_settings.text(level, "level"),
        )
        self._lock = threading.Lock()
        self._handle: Optional[_call.Handle] = None
        self._closed = False
        self._running: List[_call.Call] = []  # long calls; adding and removing one need no lock

    def _engine(self) -> ctypes.c_void_p:
        """Returns the handle, and creates the engine if there is none yet."""
        library = _library.get()  # first: the lock of a forked process may never be free
        with self._lock:
            if self._closed:
                raise HandleError("the engine was closed")
            if self._handle is None:
                handle = _call.Handle("engine")
                _library.check(library.pm_engine_new(ctypes.byref(self._options), handle.new))
                self._handle = handle
            return self._handle.value

    def _call(self, reserve: int = 0, work: float = math.inf) -> _call.Call:
        """Returns a call of this engine. The parameters are those of Call."""
        return _call.Call(self.verbose, reserve, work, self._running)


def workers(n_jobs: Optional[int]) -> int:
    """Returns the number of workers for n_jobs, 0 for all processors.

    >>> from privatemail._base import workers
    >>> workers(None), workers(3), workers(-1)
    (0, 3, 0)
    """
    if n_jobs is None:
        return 0
    jobs = _settings.integer(n_jobs, "n_jobs")
    if jobs == 0:
        raise SettingError("n_jobs is 0, want a number of threads, or -1 for all processors")
    if jobs >= 2**31:
        raise SettingError("n_jobs needs more than 31 bits")
    if jobs > 0:
        return jobs
    if jobs == -1:
        return 0
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    return max(1, count + 1 + jobs)
