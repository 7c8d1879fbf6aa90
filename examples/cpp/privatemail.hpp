// privatemail.hpp: a small C++11 layer over pm.h, to copy and to extend. Handles free themselves, errors are
// exceptions, and matrices own their values.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <pm.h>

namespace pm {

// An error has the status of the failed function and its text.
class error : public std::runtime_error {
public:
    explicit error(pm_status s) : std::runtime_error(std::string(pm_status_name(s)) + ": " + pm_last_error()), status(s) {}
    pm_status status;
};

// check throws if a function has failed. It must run on the thread that called the function.
inline void check(pm_status s) {
    if (s != PM_OK) throw error(s);
}

// Each kind of handle has its own function to free it.
struct release {
    void operator()(pm_engine *h) const noexcept { pm_engine_free(h); }
    void operator()(pm_call *h) const noexcept { pm_call_free(h); }
    void operator()(pm_graph *h) const noexcept { pm_graph_free(h); }
    void operator()(pm_operator *h) const noexcept { pm_operator_free(h); }
    void operator()(pm_model *h) const noexcept { pm_model_free(h); }
    void operator()(pm_release *h) const noexcept { pm_release_free(h); }
    void operator()(pm_ledger *h) const noexcept { pm_ledger_free(h); }
};
template <class T> using handle = std::unique_ptr<T, release>;

// make calls a function whose last argument gets the handle:
// make<pm_model>([&](pm_model **out) { return pm_model_open(path, out); })
// It is not for pm_privatize, which may return a release together with PM_SPENT: here a paid release would be lost.
template <class T, class Function> handle<T> make(Function &&function) {
    T *out = nullptr;
    pm_status s = std::forward<Function>(function)(&out);
    handle<T> owned(out);
    check(s);
    return owned;
}

inline handle<pm_engine> new_engine(std::int32_t workers = 0, std::int64_t max_memory = 0) {
    pm_engine_options o = pm_engine_options(); // zeros, also for fields that later versions add
    o.struct_size = sizeof o;
    o.workers = workers;
    o.max_memory = max_memory;
    return make<pm_engine>([&](pm_engine **out) { return pm_engine_new(&o, out); });
}

// text calls a function that writes to a buffer: once for the size and once for the text.
template <class Function> std::string text(Function &&function) {
    std::size_t size = 0;
    check(function(static_cast<char *>(nullptr), std::size_t(0), &size));
    std::vector<char> buffer(size);
    check(function(buffer.data(), buffer.size(), &size));
    return std::string(buffer.data());
}

// A matrix owns rows of float32. The library uses them without a copy.
struct matrix {
    matrix(std::int64_t n, std::int64_t d) : data(std::size_t(n) * std::size_t(d)), rows(n), cols(d) {}
    pm_rows in() const { return {data.data(), rows, cols, cols}; }
    pm_matrix out() { return {data.data(), rows, cols, cols}; }
    float &at(std::int64_t i, std::int64_t j) { return data[std::size_t(i * cols + j)]; }

    std::vector<float> data;
    std::int64_t rows, cols;
};

} // namespace pm
