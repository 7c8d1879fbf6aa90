// smoke.cpp: the first part of smoke.c in C++.
#include "pm.h"

#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

static void must(pm_status status) {
    if (status != PM_OK) throw std::runtime_error(std::string(pm_status_name(status)) + ": " + pm_last_error());
}

struct free_engine {
    void operator()(pm_engine *engine) const { pm_engine_free(engine); }
};

template <typename T> static std::vector<T> read(std::ifstream &in, std::size_t count) {
    std::vector<T> values(count);
    if (!in.read(reinterpret_cast<char *>(values.data()), static_cast<std::streamsize>(count * sizeof(T))))
        throw std::runtime_error("the input is too short");
    return values;
}

static void run(const char *from, const char *to) {
    std::ifstream in(from, std::ios::binary);
    const std::vector<int64_t> size = read<int64_t>(in, 2);
    const std::size_t entries = static_cast<std::size_t>(size[0] * size[1]);
    const std::vector<float> x = read<float>(in, entries);
    const std::vector<int32_t> labels = read<int32_t>(in, static_cast<std::size_t>(size[0]));
    std::vector<float> z(entries);

    pm_engine *made = nullptr;
    must(pm_engine_new(nullptr, &made));
    const std::unique_ptr<pm_engine, free_engine> engine(made);
    pm_settings settings = pm_settings();
    settings.struct_size = sizeof settings;
    settings.mean_neighbours = 20;
    settings.form = "attract";
    settings.coefficient = 3;
    const pm_rows rows = {x.data(), size[0], size[1], size[1]};
    const pm_matrix out = {z.data(), size[0], size[1], size[1]};
    must(pm_embed(engine.get(), &rows, labels.data(), &settings, &out, nullptr));

    std::ofstream file(to, std::ios::binary);
    file.write(reinterpret_cast<const char *>(z.data()), static_cast<std::streamsize>(z.size() * sizeof z[0]));
    if (!file) throw std::runtime_error("the output cannot be written");
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    try {
        run(argv[1], argv[2]);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    return 0;
}
