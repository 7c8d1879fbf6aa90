// This library through its C interface: an embedding of points, or rows placed by a model
// from a file next to them. What is asked for is what through_c.go asks of the engine.
#include "peer.hpp"
#include <memory>
#include <pm.h>

static void check(pm_status status) {
  if (status == PM_OK)
    return;
  std::fprintf(stderr, "%s: %s\n", pm_status_name(status), pm_last_error());
  std::exit(1);
}

// The largest resident memory of this process, in bytes.
static long long peak() {
  std::ifstream f("/proc/self/status");
  for (std::string line; std::getline(f, line);)
    if (line.compare(0, 6, "VmHWM:") == 0)
      return std::atoll(line.c_str() + 6) * 1024;
  return 0;
}

int main(int, char **argv) {
  const bool apply = std::strcmp(argv[1], "apply") == 0;
  uint64_t n = 0, d = 0;
  double neighbours = 0;
  auto f = openInput(argv[2]);
  readAll(f, &n, 1);
  readAll(f, &d, 1);
  readAll(f, &neighbours, 1);
  std::unique_ptr<float[]> x(new float[n * d]);
  readAll(f, x.get(), n * d);
  pm_model *model = nullptr;
  if (apply)
    check(pm_model_open((std::string(argv[2]) + ".model").c_str(), &model));
  hello(pm_version());

  pm_engine *engine = nullptr;
  int workers = 0;
  std::vector<float> y;
  for (Question q; ask(q);) {
    if (workers != q.threads) {
      pm_engine_options options = {};
      options.struct_size = sizeof options;
      options.workers = workers = q.threads;
      check(pm_engine_free(engine));
      check(pm_engine_new(&options, &engine));
    }
    y.resize(n * uint64_t(q.k));
    pm_settings settings = {};
    settings.struct_size = sizeof settings;
    settings.mean_neighbours = neighbours;
    settings.op = "csr";
    settings.dim = q.k;
    settings.steps = 5;
    settings.seed = 1;
    const pm_rows rows = {x.get(), int64_t(n), int64_t(d), int64_t(d)};
    const pm_matrix out = {y.data(), int64_t(n), q.k, q.k};
    auto seconds = repeat(q.check.empty() ? q.duration : 0, [&] {
      check(apply ? pm_model_apply(engine, model, &rows, &out, nullptr)
                  : pm_embed(engine, &rows, nullptr, &settings, &out, nullptr));
    });
    if (!q.check.empty())
      writeAll(q.check, y.data(), y.size());
    answer(seconds, peak());
  }
  check(pm_model_free(model));
  check(pm_engine_free(engine));
  return 0;
}
