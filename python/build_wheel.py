#!/usr/bin/env python3
"""Builds the wheel of privatemail, offline, with Go, a C compiler and Python's standard library.

    python3 python/build_wheel.py -o dist

The wheel bundles the shared library and knows no version of CPython: one for all. The same
source, Go and C compiler give the same bytes. This file is also the build backend of
pyproject.toml, so that ``pip wheel ./python`` does the same.
"""

from __future__ import annotations

import argparse
import base64
import csv
import ctypes
import hashlib
import io
import os
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import zipfile
from typing import Any, Dict, List, Optional

PYTHON = pathlib.Path(__file__).resolve().parent
ROOT = PYTHON.parent
LIBRARY = "libprivatemail.so.1"

#: The newest glibc that the library may need: that of the tag.
GLIBC = (2, 17)
TAG = f"py3-none-manylinux_{GLIBC[0]}_{GLIBC[1]}_x86_64"

METADATA = """\
Metadata-Version: 2.1
Name: privatemail
Version: {version}
Summary: Supervised and private embeddings on Gaussian graphs, in scikit-learn's manner
Home-page: https://github.com/seed-64e14a55/privatemail
Author: the PrivateMail authors
License: BSD-3-Clause
License-File: LICENSE
Classifier: License :: OSI Approved :: BSD License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Scientific/Engineering
Classifier: Typing :: Typed
Requires-Python: >=3.8
Requires-Dist: numpy>=1.20
Requires-Dist: scipy>=1.6
Requires-Dist: scikit-learn>=1.0
Provides-Extra: progress
Requires-Dist: tqdm; extra == "progress"
Description-Content-Type: text/markdown

"""

WHEEL = f"""\
Wheel-Version: 1.0
Generator: privatemail build_wheel
Root-Is-Purelib: false
Tag: {TAG}
"""


def build_library(folder: str) -> pathlib.Path:
    """Builds the shared library in folder and returns its path."""
    command = ["go", "run", "./capi/build", "-out", folder, "-only", "shared"]
    subprocess.run(command, cwd=ROOT, check=True, stdout=sys.stderr)
    return pathlib.Path(folder) / "lib" / LIBRARY


def check_glibc(data: bytes) -> None:
    """Refuses a library that needs a newer glibc than the tag of the wheel says."""
    needed = {tuple(map(int, found)) for found in re.findall(rb"\0GLIBC_(\d+)\.(\d+)", data)}
    newer = sorted(version for version in needed if version > GLIBC)
    if not needed or newer:
        names = ", ".join(".".join(map(str, version)) for version in newer) or "no glibc at all"
        raise SystemExit(f"build_wheel: the library needs {names}, and the tag is {TAG}")


def version_of(library: pathlib.Path) -> str:
    """Asks the library for its version."""
    loaded = ctypes.CDLL(str(library))
    loaded.pm_version.restype = ctypes.c_char_p
    return loaded.pm_version().decode()


def licences() -> Dict[str, bytes]:
    """Returns the licences of what is linked into the library, by name."""
    listed = subprocess.run(
        ["go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}\t{{.Dir}}{{end}}", "./capi"],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        universal_newlines=True,
    ).stdout
    root = subprocess.run(
        ["go", "env", "GOROOT"], check=True, stdout=subprocess.PIPE, universal_newlines=True
    ).stdout
    folders = {"go": root.strip()}
    folders.update(line.split("\t") for line in listed.splitlines() if line)
    found = {}
    for module, folder in folders.items():
        if pathlib.Path(folder) != ROOT:
            text = (pathlib.Path(folder) / "LICENSE").read_bytes()
            found[module.replace("/", "_") + ".txt"] = text
    return found


def contents(library: pathlib.Path, version: str) -> Dict[str, bytes]:
    """Returns the files of the wheel by name, without RECORD."""
    files = {f"privatemail/{LIBRARY}": library.read_bytes()}
    for path in sorted((PYTHON / "privatemail").rglob("*")):
        if path.suffix == ".py" or path.name == "py.typed":
            files[path.relative_to(PYTHON).as_posix()] = path.read_bytes()
    info = f"privatemail-{version}.dist-info"
    files[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    for name, text in licences().items():
        files[f"{info}/linked/{name}"] = text
    metadata = METADATA.format(version=version).encode()
    files[f"{info}/METADATA"] = metadata + (PYTHON / "README.md").read_bytes()
    files[f"{info}/WHEEL"] = WHEEL.encode()
    return files


def record(files: Dict[str, bytes], name: str) -> bytes:
    """Returns RECORD: every file with its digest and size."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        writer.writerow([path, f"sha256={digest}", len(data)])
    writer.writerow([name, "", ""])
    return lines.getvalue().encode()


def write_wheel(library: pathlib.Path, folder: pathlib.Path) -> pathlib.Path:
    """Writes the wheel of a library that is built, and returns its path."""
    check_glibc(library.read_bytes())
    version = version_of(library)
    files = contents(library, version)
    name = f"privatemail-{version}.dist-info/RECORD"
    files[name] = record(files, name)
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"privatemail-{version}-{TAG}.whl"
    temporary = wheel.with_suffix(".part")
    with open(temporary, "wb") as file:
        with zipfile.ZipFile(file, "w") as archive:
            for path, data in files.items():
                # Not the time of the build: the same source gives the same bytes.
                entry = zipfile.ZipInfo(path, date_time=(1980, 1, 1, 0, 0, 0))
                entry.external_attr = (0o755 if path.endswith(LIBRARY) else 0o644) << 16
                entry.create_system = 3
                archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 6)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, wheel)
    return wheel


def build(folder: str, library: Optional[str] = None) -> pathlib.Path:
    """Builds the library, unless one is given, and the wheel."""
    if not sys.platform.startswith("linux") or platform.machine() != "x86_64":
        raise SystemExit(
            "build_wheel: wheels are for Linux on x86_64, and this is "
            f"{sys.platform} on {platform.machine()}"
        )
    if library is not None:
        return write_wheel(pathlib.Path(library), pathlib.Path(folder))
    with tempfile.TemporaryDirectory(prefix="privatemail-") as scratch:
        return write_wheel(build_library(scratch), pathlib.Path(folder))


# ---- Hooks of the build backend ------------------------------------------------------------


def get_requires_for_build_wheel(config_settings: Any = None) -> List[str]:
    """Building needs no other package."""
    return []


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None
) -> str:
    """Builds the wheel for pip and returns its name."""
    return build(wheel_directory).name


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    """There is no source package: the source is the repository."""
    raise SystemExit(
        "build_wheel: build the wheel in a clone of the repository, there is no source package"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Builds the wheel of privatemail.")
    parser.add_argument("-o", "--out", default="dist", help="folder of the wheel (default: dist)")
    parser.add_argument("--library", help="path of a shared library that is built already")
    given = parser.parse_args()
    print(build(given.out, given.library))


if __name__ == "__main__":
    main()
