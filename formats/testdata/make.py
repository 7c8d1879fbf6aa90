"""Makes the files in this folder with NumPy and SciPy (1.24.2 and 1.10.1 were used).

Every matrix is 3 x 4. Floats are A[i, j] = (4 i + j) / 4 - 1, integers B[i, j] = 4 i + j, and
sparse ones hold A where 4 i + j is a multiple of 3. Run it in this folder: python3 make.py
"""
import gzip

import numpy as np
import scipy.sparse as sp
from numpy.lib import format as npy

B = np.arange(12).reshape(3, 4)
A = B / 4 - 1
S = np.where(B % 3 == 0, A, 0)

for version in (1, 2, 3):
    with open(f"v{version}.npy", "wb") as f:
        npy.write_array(f, A.astype("<f4"), version=(version, 0))

for name, dtype in {
    "f2": "<f2", "f4": "<f4", "f8": "<f8", "f2be": ">f2", "f4be": ">f4", "f8be": ">f8",
}.items():
    np.save(name, A.astype(dtype))
for name, dtype in {
    "i1": "i1", "i2": "<i2", "i4": "<i4", "i8": "<i8", "u1": "u1", "u2": "<u2", "u4": "<u4",
    "u8": "<u8", "i4be": ">i4", "i8be": ">i8",
}.items():
    np.save(name, B.astype(dtype))
np.save("bool", B % 3 == 0)
np.save("vector", A.astype("<f4").ravel())
np.save("vector_f8", A.ravel())
np.save("labels", np.array([3, -1, 0, 7], dtype="<i4"))
np.save("scalar", np.float32(1))
np.save("cube", B.reshape(3, 2, 2).astype("<f4"))
np.save("fortran", np.asfortranarray(A.astype("<f4")))
np.save("fortran_f8be", np.asfortranarray(A.astype(">f8")))
np.save("column", np.asfortranarray(A.astype("<f4")[:, :1]))
np.save("empty", np.zeros((0, 4), dtype="<f4"))
np.save("complex", A.astype("<c8"))
np.save("text", np.array(["a", "b"]))
np.save("names", np.array(["wren", "", "owl", "wren", "-1", "Ärger"]))
np.save("names_bytes", np.array([b"wren", b"owl", b"wren"]))
np.save("labels_float", np.array([3, np.nan, 0, 7.0]))
np.save("object", np.array([None, {}], dtype=object), allow_pickle=True)
np.save("structured", np.zeros(2, dtype=[("x", "<f4"), ("y", "<f4")]))

np.savez("arrays", features=A.astype("<f4"), labels=np.array([2, 0, 2]), other=B)
np.savez_compressed("arrays_deflated", X=np.asfortranarray(A), y=np.array(["b", "a", "b"]))
np.savez("only", something=A)
np.savez("unknown", left=A, right=B)

sp.save_npz("csr", sp.csr_matrix(S.astype("<f4")), compressed=False)
sp.save_npz("csr_deflated", sp.csr_matrix(S), compressed=True)
sp.save_npz("csc", sp.csc_matrix(S), compressed=False)
wide = sp.csr_matrix(S)
wide.indices, wide.indptr = wide.indices.astype("<i8"), wide.indptr.astype("<i8")
sp.save_npz("csr_int64", wide, compressed=False)


with gzip.GzipFile("images-idx3-ubyte.gz", "wb", mtime=0) as f:
    f.write(b"\0\0\x08\x03" + np.array([3, 2, 2], dtype=">u4").tobytes() + B.astype("u1").tobytes())
