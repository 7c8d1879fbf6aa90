#!/usr/bin/python3
"""What a newcomer gets from `privatemail embed`, on ordinary data.

    /usr/bin/python3 docs/maps.py [--program FILE]

Maps of two columns, default flags, next to those of scikit-learn's SpectralEmbedding.
docs/recipes.py is the same for `privatemail fit`. It needs scikit-learn (Debian:
python3-sklearn) and Go. --program takes another program, such as an older one. The exit code
is 1 where a target is missed.
"""
import argparse, os, subprocess, sys, tempfile
import warnings

try:
    import numpy as np
    from sklearn import datasets
    from sklearn.manifold import SpectralEmbedding, trustworthiness
    from sklearn.neighbors import NearestNeighbors
except ImportError as missing:
    sys.exit(f"SKIPPED EVERYTHING: {missing}; on Debian: apt-get install python3-sklearn, then /usr/bin/python3")

warnings.filterwarnings("ignore")
missed = []


def sets():
    """Sets that scikit-learn has or makes, as (name, rows, labels)."""
    d = datasets.load_digits()
    yield "digits", d.data, d.target
    yield ("moons", *datasets.make_moons(2000, noise=0.15, random_state=1))
    x, t = datasets.make_swiss_roll(3000, noise=0.3, random_state=1)
    yield "swiss roll", x, np.digitize(t, np.quantile(t, np.arange(1, 10) / 10))


def run(program, *words):
    out = subprocess.run([program, *words], capture_output=True, text=True)
    if out.returncode != 0:
        sys.exit(f"{' '.join(words)}: {out.stderr}")
    return out.stdout


def table_of_embed(program, temp, flags):
    print(f"\n{'set in 2 columns':22s}  {'embed':>13s}  {'SpectralEmbedding':>17s}   trustworthiness and leave-one-out 1-NN accuracy")
    for name, x, y in sets():
        x = np.asarray(x, np.float32)
        np.save(temp + "/e.npy", x)
        run(program, "embed", temp + "/e.npy", "-out", temp + "/m.npy", *flags)
        cells = []
        for z in (np.load(temp + "/m.npy"), SpectralEmbedding(2, random_state=0).fit_transform(x)):
            near = NearestNeighbors(n_neighbors=2, algorithm="brute").fit(z).kneighbors(z, return_distance=False)
            other = np.where(near[:, 0] == np.arange(len(z)), near[:, 1], near[:, 0])
            cells.append((trustworthiness(x, z), (y[other] == y).mean()))
        print(f"{name:22s}  {cells[0][0]:6.3f} {cells[0][1]:6.3f}  {cells[1][0]:10.3f} {cells[1][1]:6.3f}")
        if name == "digits":
            want(cells[0][0] >= 0.95, f"digits: trustworthiness {cells[0][0]:.3f}, wanted .95")
            want(cells[0][1] >= 0.93, f"digits: 1-NN in the map {cells[0][1]:.3f}, wanted .93")


def want(holds, text):
    if not holds:
        missed.append(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", help="program to run (default: built from this tree)")
    parser.add_argument("--embed-flags", default="", help="flags of embed, for programs that need some")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temp:
        program = args.program
        if not program:
            program = os.path.join(temp, "privatemail")
            root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
            subprocess.run(["go", "build", "-o", program, "./cmd/privatemail"], cwd=root, check=True)
        table_of_embed(os.path.abspath(program), temp, args.embed_flags.split())
    for text in missed:
        print("MISSED", text)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
