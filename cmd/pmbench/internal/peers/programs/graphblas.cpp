// Y += A X by SuiteSparse:GraphBLAS, X and Y full matrices by rows.
#include "peer.hpp"
extern "C" {
#include <GraphBLAS.h>
}

#define OK(call)                                                               \
  do {                                                                         \
    GrB_Info info_ = (call);                                                   \
    if (info_ != GrB_SUCCESS) {                                                \
      std::fprintf(stderr, "GraphBLAS: %s: error %d\n", #call, int(info_));    \
      std::exit(1);                                                            \
    }                                                                          \
  } while (0)

static GrB_Matrix full(GrB_Index n, GrB_Index k, bool zero) {
  void *x = std::malloc(n * k * sizeof(float));
  for (uint64_t e = 0; e < n * k; e++)
    static_cast<float *>(x)[e] = zero ? 0.0f : entry(e);
  GrB_Matrix m;
  OK(GrB_Matrix_new(&m, GrB_FP32, n, k));
  OK(GxB_Matrix_pack_FullR(m, &x, n * k * sizeof(float), false, nullptr));
  return m;
}

static GrB_Vector fullVector(GrB_Index n, bool zero) {
  void *x = std::malloc(n * sizeof(float));
  for (uint64_t e = 0; e < n; e++)
    static_cast<float *>(x)[e] = zero ? 0.0f : entry(e);
  GrB_Vector v;
  OK(GrB_Vector_new(&v, GrB_FP32, n));
  OK(GxB_Vector_pack_Full(v, &x, n * sizeof(float), false, nullptr));
  return v;
}

int main(int, char **argv) {
  OK(GrB_init(GrB_NONBLOCKING));
  OK(GxB_Global_Option_set_INT32(GxB_FORMAT, GxB_BY_ROW));
  int version[3];
  OK(GxB_Global_Option_get_INT32(GxB_LIBRARY_VERSION, version));
  Graph g = readGraph(argv[1]);
  GrB_Matrix a;
  OK(GrB_Matrix_new(&a, GrB_FP32, g.n, g.n));
  {
    size_t pb = (g.n + 1) * 8, ib = g.nnz * 8, vb = g.nnz * 4;
    auto *ptr = static_cast<GrB_Index *>(std::malloc(pb));
    auto *ind = static_cast<GrB_Index *>(std::malloc(ib));
    void *val = std::malloc(vb);
    std::memcpy(ptr, g.ptr.data(), pb);
    for (uint64_t p = 0; p < g.nnz; p++)
      ind[p] = g.ind[p];
    std::memcpy(val, g.val.data(), vb);
    OK(GxB_Matrix_pack_CSR(a, &ptr, &ind, &val, pb, ib, vb, false, false,
                           nullptr));
  }
  std::ostringstream name;
  name << version[0] << "." << version[1] << "." << version[2];
  hello(name.str());
  GrB_Matrix x = nullptr, y = nullptr;
  GrB_Vector vx = nullptr, vy = nullptr;
  int have = 0;
  for (Question q; ask(q);) {
    OK(GxB_Global_Option_set_INT32(GxB_Option_Field(GxB_NTHREADS), q.threads));
    bool check = !q.check.empty();
    if (have != q.k || check) {
      GrB_Matrix_free(&x);
      GrB_Matrix_free(&y);
      GrB_Vector_free(&vx);
      GrB_Vector_free(&vy);
      if (q.k == 1) {
        vx = fullVector(g.n, false);
        vy = fullVector(g.n, true);
      } else {
        x = full(g.n, q.k, false);
        y = full(g.n, q.k, true);
      }
      have = q.k;
    }
    answer(repeat(check ? 0 : q.duration, [&] {
      if (q.k == 1) {
        OK(GrB_mxv(vy, nullptr, GrB_PLUS_FP32, GrB_PLUS_TIMES_SEMIRING_FP32, a,
                   vx, nullptr));
        OK(GrB_Vector_wait(vy, GrB_MATERIALIZE));
      } else {
        OK(GrB_mxm(y, nullptr, GrB_PLUS_FP32, GrB_PLUS_TIMES_SEMIRING_FP32, a,
                   x, nullptr));
        OK(GrB_Matrix_wait(y, GrB_MATERIALIZE));
      }
      if (check) {
        void *data = nullptr;
        GrB_Index bytes = 0;
        bool iso = false;
        if (q.k == 1)
          OK(GxB_Vector_unpack_Full(vy, &data, &bytes, &iso, nullptr));
        else
          OK(GxB_Matrix_unpack_FullR(y, &data, &bytes, &iso, nullptr));
        writeAll(q.check, static_cast<float *>(data), g.n * uint64_t(q.k));
        if (q.k == 1)
          OK(GxB_Vector_pack_Full(vy, &data, bytes, iso, nullptr));
        else
          OK(GxB_Matrix_pack_FullR(y, &data, bytes, iso, nullptr));
      }
    }));
  }
  return 0;
}
