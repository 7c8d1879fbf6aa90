// What the peers written in C++ share: the files pmbench writes, the matrix X
// that is a function of its places, and one line of JSON per answer.
#pragma once
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

// A sparse matrix: n, nnz, n+1 row pointers of 64 bits, columns of 32 bits and
// float32 values, all little-endian.
struct Graph {
  uint64_t n = 0, nnz = 0;
  std::vector<uint64_t> ptr;
  std::vector<uint32_t> ind;
  std::vector<float> val;
};

template <class T> void readAll(std::ifstream &f, T *p, size_t count) {
  f.read(reinterpret_cast<char *>(p), std::streamsize(count * sizeof(T)));
  if (!f) {
    std::fprintf(stderr, "the input file is cut short\n");
    std::exit(1);
  }
}

inline std::ifstream openInput(const char *path) {
  std::ifstream f(path, std::ios::binary);
  if (!f) {
    std::fprintf(stderr, "%s: cannot be read\n", path);
    std::exit(1);
  }
  return f;
}

inline Graph readGraph(const char *path) {
  auto f = openInput(path);
  Graph g;
  readAll(f, &g.n, 1);
  readAll(f, &g.nnz, 1);
  g.ptr.resize(g.n + 1);
  g.ind.resize(g.nnz);
  g.val.resize(g.nnz);
  readAll(f, g.ptr.data(), g.n + 1);
  readAll(f, g.ind.data(), g.nnz);
  readAll(f, g.val.data(), g.nnz);
  return g;
}

inline float entry(uint64_t e) {
  return float((uint32_t(e) * 2654435761u) >> 8) * 0x1p-24f - 0.5f;
}

inline double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

template <class T>
void writeAll(const std::string &path, const T *p, size_t count) {
  std::ofstream f(path, std::ios::binary);
  f.write(reinterpret_cast<const char *>(p), std::streamsize(count * sizeof(T)));
  f.close();
  if (!f) {
    std::fprintf(stderr, "%s: cannot be written\n", path.c_str());
    std::exit(1);
  }
}

inline void hello(const std::string &version) {
  std::cout << "{\"version\":\"" << version << "\"}" << std::endl;
}

// The seconds of each operation, and the largest memory so far where it matters.
inline void answer(const std::vector<double> &seconds, long long peak = 0) {
  std::cout << "{\"seconds\":[";
  for (size_t i = 0; i < seconds.size(); i++)
    std::cout << (i ? "," : "") << seconds[i];
  std::cout << "],\"peak_bytes\":" << peak << "}" << std::endl;
}

// A question: columns, threads, seconds to fill, and perhaps a file for the
// result of one product from zero.
struct Question {
  int k = 0, threads = 0;
  double duration = 0;
  std::string check;
};

inline bool ask(Question &q) {
  std::string line;
  if (!std::getline(std::cin, line))
    return false;
  std::istringstream words(line);
  q.check.clear();
  words >> q.k >> q.threads >> q.duration;
  std::getline(words >> std::ws, q.check);
  return true;
}

// Repeats an operation for that many seconds, at least once.
template <class F> std::vector<double> repeat(double duration, F operation) {
  std::vector<double> seconds;
  double total = 0;
  do {
    double from = now();
    operation();
    seconds.push_back(now() - from);
    total += seconds.back();
  } while (total < duration);
  return seconds;
}
