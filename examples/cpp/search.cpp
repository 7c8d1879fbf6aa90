// Fits a model to labelled rows, saves it, opens it again as another program would, and searches for new rows.
//
//   search [FILE]
//
// The model is kept in the file, or removed if none is given.
#include <cstdio>
#include <exception>
#include <random>
#include <string>
#include <vector>

#include "privatemail.hpp"

namespace {

struct labelled {
    pm::matrix x;
    std::vector<std::int32_t> labels;
};

// make_rows draws rows of several classes. They differ only in the first columns, and the others have more spread,
// which misleads a search among the original rows.
labelled make_rows(std::int64_t n, unsigned seed) {
    const std::int64_t columns = 32, telling = 4, classes = 10;
    std::mt19937 source(seed);
    // The numbers of the generator are used directly, since distributions differ between libraries.
    auto draw = [&] { return float(source()) / 4294967296.0f - 0.5f; };
    labelled out{pm::matrix(n, columns), std::vector<std::int32_t>(std::size_t(n))};
    for (std::int64_t i = 0; i < n; i++) {
        const std::int64_t c = i % classes;
        out.labels[std::size_t(i)] = std::int32_t(c);
        for (std::int64_t j = 0; j < columns; j++)
            out.x.at(i, j) = j < telling ? float((c >> j) & 1) + draw() : 3 * draw();
    }
    return out;
}

// share returns the share of queries whose nearest row has their class.
double share(pm_engine *engine, const pm::matrix &gallery, const std::vector<std::int32_t> &labels,
             const pm::matrix &queries, const std::vector<std::int32_t> &want) {
    std::vector<std::int32_t> ids(want.size());
    const pm_rows x = gallery.in(), q = queries.in();
    pm::check(pm_nearest(engine, &x, &q, 1, sizeof ids[0], ids.data(), nullptr, nullptr));
    std::size_t right = 0;
    for (std::size_t i = 0; i < want.size(); i++)
        right += labels[std::size_t(ids[i])] == want[i];
    return double(right) / double(want.size());
}

// fit fits a model to rows and saves it in a file.
void fit(pm_engine *engine, const labelled &rows, const std::string &file) {
    pm_fit_settings settings = pm_fit_settings();
    settings.struct_size = sizeof settings;
    settings.seed = 1;
    const pm_rows x = rows.x.in();
    auto model = pm::make<pm_model>([&](pm_model **out) {
        return pm_fit(engine, &x, rows.labels.data(), &settings, out, nullptr);
    });
    pm::check(pm_model_save(model.get(), file.c_str(), nullptr));
}

void run(const std::string &file) {
    const labelled gallery = make_rows(2000, 1), queries = make_rows(500, 2);
    auto engine = pm::new_engine();
    fit(engine.get(), gallery, file);

    auto model = pm::make<pm_model>([&](pm_model **out) { return pm_model_open(file.c_str(), out); });
    std::int64_t rows = 0, input = 0, output = 0;
    pm::check(pm_model_size(model.get(), &rows, &input, &output));
    pm::matrix fitted(rows, output), placed(queries.x.rows, output);
    const pm_matrix all = fitted.out(), some = placed.out();
    const pm_rows asked = queries.x.in();
    pm::check(pm_model_rows(model.get(), &all));
    pm::check(pm_model_apply(engine.get(), model.get(), &asked, &some, nullptr));

    std::printf("%s\n", pm::text([&](char *buffer, std::size_t size, std::size_t *needed) {
        return pm_model_describe(model.get(), buffer, size, needed);
    }).c_str());
    std::printf("%lld rows of %lld columns, placed in %lld\n", (long long)rows, (long long)input, (long long)output);
    std::printf("nearest row is of the same class: rows as they are %.3f, placed %.3f\n",
                share(engine.get(), gallery.x, gallery.labels, queries.x, queries.labels),
                share(engine.get(), fitted, gallery.labels, placed, queries.labels));
}

} // namespace

int main(int count, char **words) {
    const bool keep = count > 1;
    const std::string file = keep ? words[1] : "search-example.pm";
    int code = 0;
    try {
        run(file);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        code = 1;
    }
    if (!keep) std::remove(file.c_str());
    return code;
}
