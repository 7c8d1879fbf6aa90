// All neighbours within a radius by nanoflann: the tree and a search for every
// point, points shared out among threads. Distances are measured in double, so
// that the neighbours are those of exact coordinates.
#include "peer.hpp"
#include <atomic>
#include <nanoflann.hpp>
#include <thread>

struct Cloud {
  uint64_t n = 0, d = 0;
  double radius = 0;
  std::vector<float> x;
  size_t kdtree_get_point_count() const { return n; }
  double kdtree_get_pt(size_t i, size_t c) const { return x[i * d + c]; }
  template <class Box> bool kdtree_get_bbox(Box &) const { return false; }
};

using Found = std::vector<std::pair<uint32_t, double>>;

template <int D> struct Search {
  using Tree = nanoflann::KDTreeSingleIndexAdaptor<
      nanoflann::L2_Simple_Adaptor<double, Cloud, double, uint32_t>, Cloud, D, uint32_t>;
  static void run(const Cloud &c, int threads, std::vector<uint32_t> *ptr,
                  std::vector<std::vector<uint32_t>> *ind, std::vector<std::vector<float>> *dist, double *built) {
    double from = now();
    Tree tree(D, c, nanoflann::KDTreeSingleIndexAdaptorParams(16));
#if NANOFLANN_VERSION < 0x143
    tree.buildIndex();
#endif
    *built = now() - from;
    const uint64_t block = 4096, blocks = (c.n + block - 1) / block;
    ind->assign(blocks, {});
    dist->assign(blocks, {});
    ptr->assign(c.n, 0);
    std::atomic<uint64_t> next{0};
    auto work = [&] {
      Found found;
      nanoflann::SearchParams params(32, 0, false);
      for (uint64_t b; (b = next++) < blocks;) {
        for (uint64_t i = b * block; i < std::min((b + 1) * block, c.n); i++) {
          double at[D];
          for (int t = 0; t < D; t++)
            at[t] = c.x[i * D + t];
          found.clear();
          tree.radiusSearch(at, c.radius * c.radius, found, params);
          uint32_t kept = 0;
          for (auto &f : found)
            if (f.first != i) {
              (*ind)[b].push_back(f.first);
              (*dist)[b].push_back(float(f.second));
              kept++;
            }
          (*ptr)[i] = kept;
        }
      }
    };
    std::vector<std::thread> others;
    for (int t = 1; t < threads; t++)
      others.emplace_back(work);
    work();
    for (auto &t : others)
      t.join();
  }
};

int main(int, char **argv) {
  Cloud c;
  auto f = openInput(argv[1]);
  readAll(f, &c.n, 1);
  readAll(f, &c.d, 1);
  readAll(f, &c.radius, 1);
  c.x.resize(c.n * c.d);
  readAll(f, c.x.data(), c.n * c.d);
  std::ostringstream name;
  name << ((NANOFLANN_VERSION >> 8) & 15) << "." << ((NANOFLANN_VERSION >> 4) & 15) << "." << (NANOFLANN_VERSION & 15);
  hello(name.str());
  for (Question q; ask(q);) {
    std::vector<uint32_t> count;
    std::vector<std::vector<uint32_t>> ind;
    std::vector<std::vector<float>> dist;
    double built = 0, from = now();
    switch (c.d) {
    case 2:
      Search<2>::run(c, q.threads, &count, &ind, &dist, &built);
      break;
    case 3:
      Search<3>::run(c, q.threads, &count, &ind, &dist, &built);
      break;
    default:
      std::fprintf(stderr, "2 or 3 dimensions are wanted\n");
      return 1;
    }
    double seconds = now() - from;
    if (!q.check.empty()) {
      // Of each row: the number of neighbours and two sums of hashes of them.
      std::vector<float> sums(3 * c.n);
      uint64_t i = 0;
      for (auto &block : ind) {
        size_t p = 0;
        for (uint64_t end = std::min(i + 4096, c.n); i < end; i++) {
          sums[3 * i] = float(count[i]);
          uint32_t one = 0, two = 0;
          for (uint32_t m = 0; m < count[i]; m++, p++) {
            one += (block[p] * 2654435761u) >> 20;
            two += (block[p] * 2246822519u) >> 20;
          }
          sums[3 * i + 1] = float(one);
          sums[3 * i + 2] = float(two);
        }
      }
      writeAll(q.check, sums.data(), sums.size());
    }
    answer({seconds});
  }
  return 0;
}
