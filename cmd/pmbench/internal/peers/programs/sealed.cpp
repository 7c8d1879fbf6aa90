// A matrix of signed bytes times columns of 32-bit words, modulo 2^32, by a plain loop that the
// compiler makes what it can of. Eight columns share a pass over a row, as the probes of a query
// do.
#include "peer.hpp"

constexpr uint64_t width = 8;

int main(int, char **argv) {
  auto f = openInput(argv[1]);
  uint64_t rows = 0, depth = 0, columns = 0;
  readAll(f, &rows, 1);
  readAll(f, &depth, 1);
  readAll(f, &columns, 1);
  if (columns != width) {
    std::fprintf(stderr, "the input file has not %d columns\n", int(width));
    return 1;
  }
  std::vector<int8_t> matrix(rows * depth);
  std::vector<uint32_t> words(width * depth), sums(width * rows);
  readAll(f, matrix.data(), matrix.size());
  readAll(f, words.data(), words.size());
  hello(__VERSION__);
  for (Question q; ask(q);) {
    bool check = !q.check.empty();
    auto seconds = repeat(check ? 0 : q.duration, [&] {
      for (uint64_t r = 0; r < rows; r++) {
        const int8_t *__restrict row = matrix.data() + r * depth;
        const uint32_t *__restrict column = words.data();
        uint32_t sum[width] = {};
        for (uint64_t t = 0; t < depth; t++)
          for (uint64_t c = 0; c < width; c++)
            sum[c] += uint32_t(int32_t(row[t])) * column[c * depth + t];
        for (uint64_t c = 0; c < width; c++)
          sums[c * rows + r] = sum[c];
      }
    });
    if (check)
      writeAll(q.check, sums.data(), sums.size());
    answer(seconds);
  }
  return 0;
}
