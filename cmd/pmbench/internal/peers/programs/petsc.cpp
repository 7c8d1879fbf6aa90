// Y = A X by PETSc: a parallel matrix of type MATMPIAIJ, rows in equal blocks over the
// ranks that mpirun has started. PETSc as Debian builds it computes in double.
#include "peer.hpp"
#include <algorithm>
#include <petscmat.h>
#include <unistd.h>

// The question at hand as ranks hand it on: rank 0 alone reads it.
struct Order {
  int k = 0, ends = 0, checks = 0;
  double duration = 0;
};

static int rank = 0, ranks = 1;

// Hands the order of rank 0 to all. Ranks that wait sleep: the other side's time is
// measured meanwhile.
static void spread(Order &order) {
  MPI_Request request;
  int done = 0;
  MPI_Ibcast(&order, sizeof order, MPI_BYTE, 0, PETSC_COMM_WORLD, &request);
  for (;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done)
      return;
    usleep(500);
  }
}

// The rows of this rank, read from the file of the whole matrix.
static Mat readMatrix(const char *path, PetscInt &first, PetscInt &own, uint64_t &n) {
  auto f = openInput(path);
  uint64_t nnz = 0;
  readAll(f, &n, 1);
  readAll(f, &nnz, 1);
  first = PetscInt(n * uint64_t(rank) / uint64_t(ranks));
  own = PetscInt(n * uint64_t(rank + 1) / uint64_t(ranks)) - first;
  std::vector<uint64_t> ptr(size_t(own) + 1);
  f.seekg(std::streamoff(16 + 8 * uint64_t(first)));
  readAll(f, ptr.data(), ptr.size());
  const uint64_t entries = ptr.back() - ptr.front(), columns = 16 + 8 * (n + 1);
  std::vector<uint32_t> ind(entries);
  std::vector<float> val(entries);
  f.seekg(std::streamoff(columns + 4 * ptr.front()));
  readAll(f, ind.data(), ind.size());
  f.seekg(std::streamoff(columns + 4 * nnz + 4 * ptr.front()));
  readAll(f, val.data(), val.size());
  std::vector<PetscInt> i(ptr.size()), j(ind.begin(), ind.end());
  for (size_t r = 0; r < ptr.size(); r++)
    i[r] = PetscInt(ptr[r] - ptr.front());
  std::vector<PetscScalar> v(val.begin(), val.end());
  Mat a;
  PetscCallAbort(PETSC_COMM_WORLD, MatCreate(PETSC_COMM_WORLD, &a));
  PetscCallAbort(PETSC_COMM_WORLD, MatSetSizes(a, own, own, PetscInt(n), PetscInt(n)));
  PetscCallAbort(PETSC_COMM_WORLD, MatSetType(a, MATMPIAIJ));
  PetscCallAbort(PETSC_COMM_WORLD, MatMPIAIJSetPreallocationCSR(a, i.data(), j.data(), v.data()));
  return a;
}

// X and Y of k columns, once as dense matrices and once as vectors, and the quicker of the
// two ways to multiply them.
struct Block {
  Mat a = nullptr, x = nullptr, y = nullptr;
  std::vector<Vec> xs, ys;
  int k = 0;
  bool together = false; // MatMatMult is the quicker way

  void release() {
    if (k == 0)
      return;
    PetscCallAbort(PETSC_COMM_WORLD, MatDestroy(&x));
    PetscCallAbort(PETSC_COMM_WORLD, MatDestroy(&y));
    for (auto list : {&xs, &ys})
      for (auto &v : *list)
        PetscCallAbort(PETSC_COMM_WORLD, VecDestroy(&v));
    xs.clear();
    ys.clear();
    k = 0;
  }

  void make(Mat matrix, int columns, PetscInt first, PetscInt own, uint64_t n) {
    release();
    a = matrix;
    k = columns;
    PetscCallAbort(PETSC_COMM_WORLD, MatCreateDense(PETSC_COMM_WORLD, own, PETSC_DECIDE, PetscInt(n), k, nullptr, &x));
    PetscScalar *values, *column;
    PetscInt leading;
    PetscCallAbort(PETSC_COMM_WORLD, MatDenseGetLDA(x, &leading));
    PetscCallAbort(PETSC_COMM_WORLD, MatDenseGetArray(x, &values));
    for (int c = 0; c < k; c++) {
      Vec vx, vy;
      PetscCallAbort(PETSC_COMM_WORLD, MatCreateVecs(a, &vx, &vy));
      PetscCallAbort(PETSC_COMM_WORLD, VecGetArray(vx, &column));
      for (PetscInt r = 0; r < own; r++)
        column[r] = values[r + leading * c] = entry((uint64_t(first) + uint64_t(r)) * uint64_t(k) + uint64_t(c));
      PetscCallAbort(PETSC_COMM_WORLD, VecRestoreArray(vx, &column));
      xs.push_back(vx);
      ys.push_back(vy);
    }
    PetscCallAbort(PETSC_COMM_WORLD, MatDenseRestoreArray(x, &values));
    PetscCallAbort(PETSC_COMM_WORLD, MatAssemblyBegin(x, MAT_FINAL_ASSEMBLY));
    PetscCallAbort(PETSC_COMM_WORLD, MatAssemblyEnd(x, MAT_FINAL_ASSEMBLY));
    PetscCallAbort(PETSC_COMM_WORLD, MatMatMult(a, x, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &y));
    double best[2] = {1e300, 1e300};
    for (int round = 0; round < 6; round++) {
      together = round % 2;
      best[round % 2] = std::min(best[round % 2], timed());
    }
    int choice = best[1] < best[0];
    MPI_Bcast(&choice, 1, MPI_INT, 0, PETSC_COMM_WORLD);
    together = choice;
  }

  void multiply() {
    if (together) {
      PetscCallAbort(PETSC_COMM_WORLD, MatMatMult(a, x, MAT_REUSE_MATRIX, PETSC_DEFAULT, &y));
      return;
    }
    for (int c = 0; c < k; c++)
      PetscCallAbort(PETSC_COMM_WORLD, MatMult(a, xs[size_t(c)], ys[size_t(c)]));
  }

  // The seconds of a product, until the last rank has ended.
  double timed() {
    MPI_Barrier(PETSC_COMM_WORLD);
    double from = now();
    multiply();
    MPI_Barrier(PETSC_COMM_WORLD);
    return now() - from;
  }

  // Collects Y on rank 0, row-major in float, and writes it there.
  void write(const std::string &path, PetscInt own, uint64_t n) {
    multiply();
    std::vector<float> part(size_t(own) * size_t(k)), all(rank == 0 ? n * uint64_t(k) : 0);
    const PetscScalar *values = nullptr;
    PetscInt leading = 0;
    if (together) {
      PetscCallAbort(PETSC_COMM_WORLD, MatDenseGetLDA(y, &leading));
      PetscCallAbort(PETSC_COMM_WORLD, MatDenseGetArrayRead(y, &values));
    }
    for (int c = 0; c < k; c++) {
      const PetscScalar *column = values + leading * c;
      if (!together)
        PetscCallAbort(PETSC_COMM_WORLD, VecGetArrayRead(ys[size_t(c)], &column));
      for (PetscInt r = 0; r < own; r++)
        part[size_t(r) * size_t(k) + size_t(c)] = float(column[r]);
      if (!together)
        PetscCallAbort(PETSC_COMM_WORLD, VecRestoreArrayRead(ys[size_t(c)], &column));
    }
    if (together)
      PetscCallAbort(PETSC_COMM_WORLD, MatDenseRestoreArrayRead(y, &values));
    std::vector<int> counts(static_cast<size_t>(ranks)), starts(static_cast<size_t>(ranks));
    for (int r = 0; r < ranks; r++) {
      starts[size_t(r)] = int(n * uint64_t(r) / uint64_t(ranks) * uint64_t(k));
      counts[size_t(r)] = int(n * uint64_t(r + 1) / uint64_t(ranks) * uint64_t(k)) - starts[size_t(r)];
    }
    MPI_Gatherv(part.data(), int(part.size()), MPI_FLOAT, all.data(), counts.data(), starts.data(), MPI_FLOAT, 0, PETSC_COMM_WORLD);
    if (rank == 0)
      writeAll(path, all.data(), all.size());
  }
};

int main(int argc, char **argv) {
  const std::string file = argv[1];
  argc = 1; // PETSC_OPTIONS aside, it has no options
  if (PetscInitialize(&argc, &argv, nullptr, nullptr))
    return 1;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  PetscInt first, own, major, minor, patch;
  uint64_t n;
  Mat a = readMatrix(file.c_str(), first, own, n);
  PetscGetVersionNumber(&major, &minor, &patch, nullptr);
  if (rank == 0)
    hello(std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch) + " in " + (sizeof(PetscReal) == 8 ? "double" : "float"));
  Block block;
  for (;;) {
    Order order;
    Question q;
    if (rank == 0) {
      order.ends = !ask(q);
      order.k = q.k, order.duration = q.duration, order.checks = !q.check.empty();
    }
    spread(order);
    if (order.ends)
      break;
    if (block.k != order.k)
      block.make(a, order.k, first, own, n);
    std::vector<double> seconds;
    if (order.checks) {
      block.write(q.check, own, n);
      seconds.push_back(0);
    }
    double total = 0;
    for (int again = !order.checks; again;) {
      seconds.push_back(block.timed());
      total += seconds.back();
      again = total < order.duration;
      MPI_Bcast(&again, 1, MPI_INT, 0, PETSC_COMM_WORLD); // clocks differ
    }
    if (rank == 0)
      answer(seconds);
  }
  block.release();
  MatDestroy(&a);
  return PetscFinalize();
}
