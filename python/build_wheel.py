#!/usr/bin/env python3
"""Builds the wheel of privatemail, offline, with Go, a C compiler and Python's standard library.

    python3 python/build_wheel.py -o dist
    python3 python/build_wheel.py -o dist --sdist

The wheel bundles the shared library and works with every version of CPython. The same source, Go
and C compiler give the same bytes. The source package has the Python files and the Go source of the
library, without the modules that it needs: Go finds them as in a clone. This file is also the build
backend of pyproject.toml, so that ``pip wheel ./python`` does the same.
"""

from __future__ import annotations

import argparse
import base64
import csv
import ctypes
import gzip
import hashlib
import io
import json
import os
import pathlib
import platform
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from typing import Any, Dict, Iterator, List, Optional

PYTHON = pathlib.Path(__file__).resolve().parent
#: The folder of the Go source in a source package; otherwise it is the repository.
LIBRARY_SOURCE = "library"
ROOT = PYTHON / LIBRARY_SOURCE if (PYTHON / LIBRARY_SOURCE).is_dir() else PYTHON.parent
LIBRARY = "libprivatemail.so.1"

#: The newest glibc that the library may need, as in the tag.
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
    """Refuses a library that needs a newer glibc than the tag of the wheel."""
    needed = {tuple(map(int, found)) for found in re.findall(rb"\0GLIBC_(\d+)\.(\d+)", data)}
    newer = sorted(version for version in needed if version > GLIBC)
    if not needed or newer:
        names = ", ".join(".".join(map(str, version)) for version in newer) or "no glibc at all"
        raise SystemExit(f"build_wheel: the library needs {names}, but the tag is {TAG}")


def version_of(library: pathlib.Path) -> str:
    """Asks the library for its version."""
    loaded = ctypes.CDLL(str(library))
    loaded.pm_version.restype = ctypes.c_char_p
    return loaded.pm_version().decode()


def licences() -> Dict[str, bytes]:
    """Returns the licences of the modules linked into the library, by name."""
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


def package_version() -> str:
    """Returns the version of the package, which must equal that of the header of the library."""

    def found(path: pathlib.Path, pattern: str) -> str:
        return re.search(pattern, path.read_text(encoding="utf-8"), re.M).group(1)

    version = found(PYTHON / "privatemail" / "_header.py", r'^VERSION = "(.*)"$')
    header = found(ROOT / "capi" / "pm.h", r'^#define PM_VERSION "(.*)"$')
    if version != header:
        raise SystemExit(f"build_wheel: the package is {version}, but pm.h has {header}")
    return version


def package_files() -> Dict[str, bytes]:
    """Returns the Python files of the package by name."""
    return {
        path.relative_to(PYTHON).as_posix(): path.read_bytes()
        for path in sorted((PYTHON / "privatemail").rglob("*"))
        if path.suffix == ".py" or path.name == "py.typed"
    }


def contents(library: pathlib.Path, version: str) -> Dict[str, bytes]:
    """Returns the files of the wheel by name, without RECORD."""
    files = {f"privatemail/{LIBRARY}": library.read_bytes()}
    files.update(package_files())
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
    """Writes the wheel of a built library, and returns its path."""
    check_glibc(library.read_bytes())
    version = version_of(library)
    if version != package_version():
        raise SystemExit(
            f"build_wheel: the library is {version}, but the package is {package_version()}"
        )
    files = contents(library, version)
    name = f"privatemail-{version}.dist-info/RECORD"
    files[name] = record(files, name)
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"privatemail-{version}-{TAG}.whl"
    temporary = wheel.with_suffix(".part")
    with open(temporary, "wb") as file:
        with zipfile.ZipFile(file, "w") as archive:
            for path, data in files.items():
                # A fixed time, so that the same source gives the same bytes.
                entry = zipfile.ZipInfo(path, date_time=(1980, 1, 1, 0, 0, 0))
                entry.external_attr = (0o755 if path.endswith(LIBRARY) else 0o644) << 16
                entry.create_system = 3
                archive.writestr(entry, data, zipfile.ZIP_DEFLATED, 6)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, wheel)
    return wheel


def library_files() -> Iterator[pathlib.Path]:
    """Yields the files that Go needs to build the library, for any processor."""
    yield from (ROOT / name for name in ("LICENSE", "go.mod", "go.sum"))
    kinds = (
        "GoFiles CgoFiles CFiles HFiles SFiles EmbedFiles IgnoredGoFiles IgnoredOtherFiles"
    ).split()
    listed = subprocess.run(
        ["go", "list", "-deps", "-json=Dir,Module," + ",".join(kinds), "./capi", "./capi/build"],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        universal_newlines=True,
    ).stdout
    decoder, at = json.JSONDecoder(), 0
    while at < len(listed.rstrip()):
        package, at = decoder.raw_decode(listed, at)
        at += len(listed[at:]) - len(listed[at:].lstrip())
        if not package.get("Module", {}).get("Main"):
            continue
        for kind in kinds:
            for name in package.get(kind) or ():
                if not name.endswith("_test.go"):
                    yield pathlib.Path(package["Dir"]) / name


def write_sdist(folder: pathlib.Path) -> pathlib.Path:
    """Writes the source package, and returns its path."""
    version = package_version()
    readme = (PYTHON / "README.md").read_bytes()
    files = {"PKG-INFO": METADATA.format(version=version).encode() + readme, "README.md": readme}
    for name in ("pyproject.toml", "build_wheel.py"):
        files[name] = (PYTHON / name).read_bytes()
    files["LICENSE"] = (ROOT / "LICENSE").read_bytes()
    files.update(package_files())
    for path in library_files():
        files[f"{LIBRARY_SOURCE}/{path.relative_to(ROOT).as_posix()}"] = path.read_bytes()
    folder.mkdir(parents=True, exist_ok=True)
    sdist = folder / f"privatemail-{version}.tar.gz"
    temporary = sdist.with_suffix(".part")
    with open(temporary, "wb") as file:
        # No name and no time, so that the same source gives the same bytes.
        with gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
            with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
                for name, data in sorted(files.items()):
                    entry = tarfile.TarInfo(f"privatemail-{version}/{name}")
                    entry.size, entry.mode = len(data), 0o644
                    archive.addfile(entry, io.BytesIO(data))
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, sdist)
    return sdist


def build(folder: str, library: Optional[str] = None) -> pathlib.Path:
    """Builds the library, unless one is given, and the wheel."""
    if not sys.platform.startswith("linux") or platform.machine() != "x86_64":
        raise SystemExit(
            "build_wheel: wheels are for Linux on x86_64, but this is "
            f"{sys.platform} on {platform.machine()}"
        )
    if library is not None:
        return write_wheel(pathlib.Path(library), pathlib.Path(folder))
    with tempfile.TemporaryDirectory(prefix="privatemail-") as scratch:
        return write_wheel(build_library(scratch), pathlib.Path(folder))


# ---- Hooks of the build backend ------------------------------------------------------------


def get_requires_for_build_wheel(config_settings: Any = None) -> List[str]:
    """Building the wheel needs no other package."""
    return []


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None
) -> str:
    """Builds the wheel for pip and returns its name."""
    return build(wheel_directory).name


def get_requires_for_build_sdist(config_settings: Any = None) -> List[str]:
    """Building the source package needs no other package."""
    return []


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    """Writes the source package for pip and others, and returns its name."""
    return write_sdist(pathlib.Path(sdist_directory)).name


def main() -> None:
    parser = argparse.ArgumentParser(description="Builds the wheel of privatemail.")
    parser.add_argument("-o", "--out", default="dist", help="folder of the wheel (default: dist)")
    parser.add_argument("--library", help="path of a shared library that is already built")
    parser.add_argument("--sdist", action="store_true", help="write the source package instead")
    given = parser.parse_args()
    if given.sdist:
        print(write_sdist(pathlib.Path(given.out)))
    else:
        print(build(given.out, given.library))


if __name__ == "__main__":
    main()
