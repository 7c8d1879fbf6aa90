#!/usr/bin/python3
"""What a newcomer gets from `privatemail fit` and `privatemail embed`, on ordinary data.

    /usr/bin/python3 docs/first_hour.py [--data FOLDER] [--program FILE] [--seeds 1,2,3]

Each set is divided into a gallery (70 %) and queries by a shuffle of the seed; CUB-200 has a
split of its own. The table has the 1-nearest-neighbour accuracy of the queries (R@1), and
R@8, among the rows as they are, among rows with columns of equal spread, in the subspace of
scikit-learn's LinearDiscriminantAnalysis, and with `privatemail fit`, default flags.

It needs scikit-learn (Debian: python3-sklearn) and Go. --data names a folder with
cub200-mobilenetv2/ and cifar100-mobilenetv2/, each with features.npy and labels.npy, and
CUB's is_train.npy; without it these sets are skipped, and the last lines say so. --program
takes another program, such as an older one. The exit code is 1 where a target is missed.
"""
import argparse, os, subprocess, sys, tempfile, time
import warnings

try:
    import numpy as np
    from sklearn import datasets
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.manifold import SpectralEmbedding, trustworthiness
    from sklearn.neighbors import NearestNeighbors
    from sklearn.preprocessing import StandardScaler
except ImportError as missing:
    sys.exit(f"SKIPPED EVERYTHING: {missing}; on Debian: apt-get install python3-sklearn, then /usr/bin/python3")

warnings.filterwarnings("ignore")
skipped, missed = [], []


def small_sets(seed):
    """Sets that scikit-learn has or makes, as (name, rows, labels)."""
    for name, load in (("iris", datasets.load_iris), ("wine", datasets.load_wine),
                       ("breast cancer", datasets.load_breast_cancer), ("digits", datasets.load_digits)):
        d = load()
        yield name, d.data, d.target
    yield ("moons", *datasets.make_moons(2000, noise=0.15, random_state=seed))
    yield ("circles", *datasets.make_circles(2000, noise=0.08, factor=0.5, random_state=seed))
    x, t = datasets.make_swiss_roll(3000, noise=0.3, random_state=seed)
    yield "swiss roll", x, np.digitize(t, np.quantile(t, np.arange(1, 10) / 10))
    yield ("multi-modal", *datasets.make_classification(
        3000, n_features=30, n_informative=8, n_redundant=4, n_classes=8, n_clusters_per_class=3,
        class_sep=0.8, random_state=seed))


def splits(seed, data):
    """Gallery and queries, as (name, rows, labels, query rows, query labels)."""
    def shuffled(x, y):
        order = np.random.RandomState(seed).permutation(len(y))
        cut = int(0.7 * len(y))
        return x[order[:cut]], y[order[:cut]], x[order[cut:]], y[order[cut:]]

    for name, x, y in small_sets(seed):
        yield (name, *shuffled(np.asarray(x, np.float32), y))
    for name in ("cifar100-mobilenetv2", "cub200-mobilenetv2"):
        folder = os.path.join(data or "", name)
        if not data or not os.path.exists(os.path.join(folder, "features.npy")):
            if name not in skipped:
                skipped.append(name)
            continue
        x = np.load(os.path.join(folder, "features.npy")).astype(np.float32)
        y = np.load(os.path.join(folder, "labels.npy"))
        if name.startswith("cub"):
            train = np.load(os.path.join(folder, "is_train.npy")).astype(bool)
            yield name, x[train], y[train], x[~train], y[~train]
        else:
            yield (name, *shuffled(x, y))


def recall(gallery, labels, queries, wanted):
    """R@1 and R@8."""
    found = NearestNeighbors(n_neighbors=8, algorithm="brute").fit(gallery).kneighbors(queries, return_distance=False)
    hit = labels[found] == wanted[:, None]
    return np.array([hit[:, 0].mean(), hit.any(axis=1).mean()])


def run(program, *words):
    out = subprocess.run([program, *words], capture_output=True, text=True)
    if out.returncode != 0:
        sys.exit(f"{' '.join(words)}: {out.stderr}")
    return out.stdout


def fit(program, temp, x, y, q):
    """What `privatemail fit` makes of gallery and queries, its recipe and its seconds."""
    os.makedirs(os.path.join(temp, "g"), exist_ok=True)
    np.save(os.path.join(temp, "g", "features.npy"), x)
    np.save(os.path.join(temp, "g", "labels.npy"), y.astype(np.int32))
    np.save(os.path.join(temp, "q.npy"), q)
    began = time.time()
    text = run(program, "fit", temp + "/g", "-out", temp + "/x.npy", "-queries", temp + "/q.npy", "-queries-out", temp + "/z.npy")
    seconds = time.time() - began
    recipe = [line.split(None, 1)[1] for line in text.splitlines() if line.startswith("recipe")]
    return np.load(temp + "/x.npy"), np.load(temp + "/z.npy"), (recipe or ["-"])[0], seconds


def table_of_fit(program, temp, seeds, data):
    print(f"{'set':22s} {'n x d':>12s}  {'raw':>11s}  {'scaled':>11s}  {'LDA':>11s}  {'fit':>11s}  {'seconds':>7s}  recipe of the last seed")
    sums, order, shape, recipes = {}, [], {}, {}
    for seed in seeds:
        for name, x, y, q, wanted in splits(seed, data):
            if name.startswith("cub") and seed != seeds[0]:
                continue  # its split is fixed
            s = StandardScaler().fit(x)
            z, placed, recipe, seconds = fit(program, temp, x, y, q)
            lda = LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.1).fit(x, y)
            row = [recall(x, y, q, wanted), recall(s.transform(x), y, s.transform(q), wanted),
                   recall(lda.transform(x), y, lda.transform(q), wanted), recall(z, y, placed, wanted), np.array([seconds, 0])]
            sums.setdefault(name, []).append(row)
            if name not in order:
                order.append(name)
            shape[name], recipes[name] = f"{x.shape[0]} x {x.shape[1]}", recipe
    for name in order:
        raw, scaled, lda, ours, seconds = np.mean(sums[name], axis=0)
        cells = "  ".join(f"{v[0]:.3f} {v[1]:.3f}" for v in (raw, scaled, lda, ours))
        print(f"{name:22s} {shape[name]:>12s}  {cells}  {seconds[0]:7.2f}  {recipes[name]}")
        least = max(raw[0], scaled[0]) - 0.01
        want(ours[0] >= least, f"{name}: R@1 of fit {ours[0]:.3f}, wanted {least:.3f}")
        want(ours[1] >= raw[1] - 0.01, f"{name}: R@8 of fit {ours[1]:.3f}, wanted {raw[1] - 0.01:.3f}")
        aim = {"cub200-mobilenetv2": 0.63, "cifar100-mobilenetv2": 0.59}.get(name)
        if aim:
            want(ours[0] >= aim, f"{name}: R@1 of fit {ours[0]:.3f}, wanted {aim}")
    print("each cell: R@1 R@8, means over the seeds", ",".join(map(str, seeds)))


def table_of_embed(program, temp, flags):
    print(f"\n{'set in 2 columns':22s}  {'embed':>13s}  {'SpectralEmbedding':>17s}   trustworthiness and leave-one-out 1-NN accuracy")
    for name, x, y in small_sets(1):
        if name not in ("digits", "moons", "swiss roll"):
            continue
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
    parser.add_argument("--data", help="folder with cub200-mobilenetv2/ and cifar100-mobilenetv2/")
    parser.add_argument("--program", help="program to run (default: built from this tree)")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--embed-flags", default="", help="flags of embed, for programs that need some")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temp:
        program = args.program
        if not program:
            program = os.path.join(temp, "privatemail")
            root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
            subprocess.run(["go", "build", "-o", program, "./cmd/privatemail"], cwd=root, check=True)
        table_of_fit(os.path.abspath(program), temp, [int(s) for s in args.seeds.split(",")], args.data)
        table_of_embed(os.path.abspath(program), temp, args.embed_flags.split())
    for name in skipped:
        print(f"SKIPPED {name}: name the folder that has it with --data")
    for text in missed:
        print("MISSED", text)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
