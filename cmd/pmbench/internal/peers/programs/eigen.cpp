// Y += A X by Eigen, all row-major.
#include "peer.hpp"
#include <Eigen/Sparse>

using Dense = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXf;

int main(int, char **argv) {
  Graph g = readGraph(argv[1]);
  std::vector<int> ptr(g.ptr.begin(), g.ptr.end()), ind(g.ind.begin(), g.ind.end());
  Eigen::Map<const Eigen::SparseMatrix<float, Eigen::RowMajor, int>> a(
      Eigen::Index(g.n), Eigen::Index(g.n), Eigen::Index(g.nnz), ptr.data(), ind.data(), g.val.data());
  std::ostringstream name;
  name << EIGEN_WORLD_VERSION << "." << EIGEN_MAJOR_VERSION << "." << EIGEN_MINOR_VERSION;
  hello(name.str());
  Dense x, y;
  Vector vx, vy;
  int have = 0;
  for (Question q; ask(q);) {
    Eigen::setNbThreads(q.threads);
    bool check = !q.check.empty();
    if (have != q.k) {
      x.resize(Eigen::Index(g.n), q.k);
      for (uint64_t e = 0; e < g.n * uint64_t(q.k); e++)
        x.data()[e] = entry(e);
      y = Dense::Zero(Eigen::Index(g.n), q.k);
      vx = x.col(0);
      vy = y.col(0);
      have = q.k;
    }
    if (check) {
      y.setZero();
      vy.setZero();
    }
    auto seconds = repeat(check ? 0 : q.duration, [&] {
      if (q.k == 1)
        vy.noalias() += a * vx;
      else
        y.noalias() += a * x;
    });
    if (check)
      writeAll(q.check, q.k == 1 ? vy.data() : y.data(), g.n * uint64_t(q.k));
    answer(seconds);
  }
  return 0;
}
