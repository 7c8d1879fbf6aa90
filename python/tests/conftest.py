"""Finds the package and its library: the installed ones, or else the source tree."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import pytest

PYTHON = pathlib.Path(__file__).resolve().parent.parent
ROOT = PYTHON.parent
# A child that hangs is ended after this many seconds.
TIMEOUT = 300

# The beginning of scripts of children: rows, and a call that takes days unless it is ended.
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


def pytest_configure(config: pytest.Config) -> None:
    if importlib.util.find_spec("privatemail") is None:
        sys.path.insert(0, str(PYTHON))
    from privatemail import _library

    # Children import the same package.
    package = pathlib.Path(_library.__file__).resolve().parent
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, [str(package.parent), os.environ.get("PYTHONPATH")])
    )
    if _library.VARIABLE not in os.environ and not (package / _library.NAME).exists():
        folder = tempfile.TemporaryDirectory(prefix="privatemail-")
        config.add_cleanup(folder.cleanup)
        subprocess.run(
            ["go", "run", "./capi/build", "-out", folder.name, "-only", "shared"],
            cwd=ROOT,
            check=True,
        )
        os.environ[_library.VARIABLE] = os.path.join(folder.name, "lib", _library.NAME)


@pytest.fixture
def child(tmp_path):
    """Returns a function that runs a script in another process and returns its result."""

    def run(script: str, *arguments: str, expect: int = 0) -> subprocess.CompletedProcess:
        path = tmp_path / "child.py"
        # In a file, since processes that it spawns import it.
        path.write_text(script)
        done = subprocess.run(
            [sys.executable, str(path), *arguments],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            timeout=TIMEOUT,
            # A shell ignores Ctrl-C for background programs, and so would the child.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        assert done.returncode == expect, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    return run
