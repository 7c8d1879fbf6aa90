"""The output of ``verbose`` for a call: a bar of tqdm if it is installed, otherwise plain lines."""

from __future__ import annotations

import sys
from typing import Any, Callable, Optional, Union

#: True for a bar or lines on standard error, or a function that gets stage, done and total.
Verbose = Union[bool, int, Callable[[str, int, int], None]]


class Show:
    """Shows one stage after the other. It is called by one thread at a time."""

    def __init__(self) -> None:
        self._stage: Optional[str] = None
        self._bar: Any = None
        self._percent = -1
        self._tqdm = _tqdm()

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage != self._stage:
            self.close()
            self._stage, self._percent = stage, -1
            if self._tqdm is not None:
                self._bar = self._tqdm(
                    total=max(total, 0) or None, desc=stage, unit="", leave=False
                )
        if self._bar is not None:
            self._bar.update(done - self._bar.n)
            return
        percent = 100 * done // total if total > 0 else 0
        # One line per tenth, so that logs stay readable.
        if self._percent < 0 or percent // 10 > self._percent // 10:
            self._percent = percent
            print(f"privatemail: {stage} {percent} %", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Ends the bar of the last stage."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _tqdm() -> Any:
    """Returns the class of bars for this environment, None if tqdm is not installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm


def of(verbose: Verbose) -> Optional[Callable[[str, int, int], None]]:
    """Returns the function that gets progress, None for none."""
    if callable(verbose):
        return verbose
    return Show() if verbose else None
