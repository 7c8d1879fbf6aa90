"""Rows of float32 are not copied: peak memory of a process that places many of them."""

from __future__ import annotations

import os

import pytest

MIB = int(os.environ.get("PM_ZERO_COPY_MIB", "256"))
# The memory of a call in addition to the rows: its images, the library, blocks of work.
SPARE = 200

PLACE = """
import sys
import numpy as np
from privatemail.engine import Engine

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) // 1024

mib, kind = int(sys.argv[1]), sys.argv[2]
X = np.zeros((mib * 1024, 256), np.float32)
few = np.random.default_rng(1).standard_normal((400, 256)).astype(np.float32)
for first in range(0, len(X), 400):
    X[first:first + 400] = few[:len(X) - first]
X.flags.writeable = False
if kind == "strided":
    X, few = X[:, :250], few[:, :250]
if kind == "backwards":
    X = X[:, ::-1]
engine = Engine(n_jobs=2)
model = engine.fit(few, np.arange(400) % 4, recipe="discriminate", measure=False)
before = peak()
images = model.transform(X, engine)
print(before, peak())
"""


def peaks(child, kind: str):
    return map(int, child(PLACE, str(MIB), kind).stdout.split())


@pytest.mark.parametrize("kind", ["contiguous", "strided"])
def test_rows_are_not_copied(child, kind):
    before, after = peaks(child, kind)
    assert before >= MIB  # the rows exist
    assert after < MIB + SPARE, f"{after} MiB for rows of {MIB} MiB"


def test_the_measure_sees_a_copy(child):
    before, after = peaks(child, "backwards")
    assert after >= 2 * MIB
    assert after < 2 * MIB + SPARE  # and only once
