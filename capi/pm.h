/* pm.h: PrivateMail from C and C++.
 *
 *   pm_engine *engine = NULL;
 *   pm_settings s = {.struct_size = sizeof s, .mean_neighbours = 20, .form = "attract", .coefficient = 3};
 *   pm_rows x = {features, n, d, d};
 *   pm_matrix z = {embedding, n, d, d};
 *   if (pm_engine_new(NULL, &engine) || pm_embed(engine, &x, labels, &s, &z, NULL))
 *       fprintf(stderr, "%s\n", pm_last_error());
 *   pm_engine_free(engine);
 *
 * Functions return PM_OK or the status of an error; pm_last_error has its text. All functions
 * may be called from any thread at any time, also with the same handles, unless they say
 * otherwise. Only handles have to be freed, each by its own function; arrays and texts go to buffers of the caller.
 * The library reads and writes the caller's memory only during a call. Results must not overlap each other or
 * memory that the function reads: otherwise it returns PM_SHAPE. Two functions must not write to the same memory at
 * once. A field or argument that is 1 or 0 gives PM_SETTING or PM_PRIVACY for any other number, and so does a
 * number that is not finite. On amd64 and arm64 results do not depend on the floating-point mode of the caller,
 * which does not change.
 */
#ifndef PM_H
#define PM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. A minor version adds functions, fields at the end of structs
 * and statuses; a major version changes existing ones. */
#define PM_ABI_MAJOR 1
#define PM_ABI_MINOR 0

/* The version of the library that this header came with. */
#define PM_VERSION "0.1.0"

typedef int32_t pm_status;
enum {
    PM_OK = 0,
    PM_ARGUMENT = 1,      /* NULL where something is required, an unknown struct_size, text that is not UTF-8 */
    PM_HANDLE = 2,        /* not a handle, one of another kind, or one that was freed */
    PM_SETTING = 3,       /* a setting outside its range, or two that exclude each other */
    PM_SHAPE = 4,         /* sizes that do not fit each other, or strides shorter than a row */
    PM_NOT_FINITE = 5,    /* a NaN or an infinity */
    PM_ZERO_ROW = 6,      /* a row of zeros, if rows are divided by their norm */
    PM_LABELS = 7,        /* labels that cannot be used */
    PM_TOLERANCE = 8,     /* no operator meets the tolerance, or rows are isolated */
    PM_DIVERGED = 9,      /* the iterate grows without bound */
    PM_MEMORY = 10,       /* the engine, or the machine, has too little memory */
    PM_CANCELLED = 11,    /* pm_call_cancel ended the call */
    PM_BUSY = 12,         /* the pm_call is in use by another function; or the ledger by another handle or process */
    PM_REENTRANT = 13,    /* called by a progress function of the same engine */
    PM_SIZE = 14,         /* the buffer is too small; the required size was returned */
    PM_FILE = 15,         /* a file of the wrong kind, or a damaged one */
    PM_SYSTEM = 16,       /* the system refused: no such file, no permission, disk full */
    PM_PRIVACY = 17,      /* a release without a proof of privacy, or without a required setting */
    PM_BUDGET = 18,       /* the ledger has too little left; nothing was spent */
    PM_SPENT = 19,        /* failed after the ledger had paid: the budget is spent */
    PM_FORKED = 20,       /* this process was forked after the library was loaded; start it with spawn or exec */
    PM_INTERNAL = 21      /* a fault of the library */
};

typedef struct pm_engine pm_engine;     /* workers and a memory limit */
typedef struct pm_call pm_call;         /* progress, cancellation and report of a call */
typedef struct pm_graph pm_graph;       /* a sparse matrix of weights */
typedef struct pm_operator pm_operator; /* products with the full kernel */
typedef struct pm_model pm_model;       /* the result of pm_fit */
typedef struct pm_release pm_release;   /* a private first step */
typedef struct pm_ledger pm_ledger;     /* how much privacy budget each unit has spent */

/* Rows of float32 that are read: entry (i, j) is data[i*stride + j], stride >= cols. */
typedef struct {
    const float *data;
    int64_t rows, cols, stride;
} pm_rows;

/* A matrix of float32 that is written, in the same layout. */
typedef struct {
    float *data;
    int64_t rows, cols, stride;
} pm_matrix;

/* ---- About the library ------------------------------------------------------------------ */

const char *pm_version(void);                 /* PM_VERSION of the library; static */
const char *pm_simd_level(void);              /* the highest level of this machine: "amx", "avx2", ...; static */
int32_t pm_abi(void);                         /* PM_ABI_MAJOR * 1000 + PM_ABI_MINOR of the library */
const char *pm_status_name(pm_status status); /* such as "PM_SHAPE", "" for an unknown number; static */

/* The text of the last error of this thread, "" if there was none. It belongs to the library and is valid until the
 * next function of the library fails on this thread, or the thread ends. It contains no values of features or
 * labels. */
const char *pm_last_error(void);

/* ---- Engines ---------------------------------------------------------------------------- */

typedef struct {
    size_t struct_size;
    int32_t workers;        /* worker threads; 0 for as many as there are processors */
    int32_t measure;        /* 1: operators are chosen by the measured speed of this machine;
                               0: the same choice on every machine */
    int64_t max_memory;     /* bytes that calls may take together; 0 for three quarters of the available memory */
    const char *level;      /* lowers the level of instructions, such as "avx2"; NULL for the highest */
} pm_engine_options;

pm_status pm_engine_new(const pm_engine_options *options, pm_engine **engine); /* options may be NULL */
pm_status pm_engine_workers(pm_engine *engine, int32_t *workers);
/* Waits for functions that are using the engine. NULL is allowed, as for all _free functions. */
pm_status pm_engine_free(pm_engine *engine);

/* ---- Calls: progress, cancellation, report ------------------------------------------------ */

/* A pm_call may be passed to functions that take long, to one at a time. NULL is allowed unless a function says
 * that it needs one. */
pm_status pm_call_new(pm_call **call);
/* progress is called by threads of the library and by the calling thread, one at a time, and should be quick. It
 * may call pm_call_cancel. Within it, functions with the same engine return PM_REENTRANT, and others that take or
 * change this call return PM_BUSY. It runs in the floating-point mode of the function's caller. stage is valid
 * until progress returns. NULL for no progress. */
typedef void (*pm_progress)(const char *stage, int64_t done, int64_t total, void *user);
pm_status pm_call_on_progress(pm_call *call, pm_progress progress, void *user);
/* Counts this many bytes of the caller's memory against max_memory of the engine in the next functions. */
pm_status pm_call_reserve(pm_call *call, int64_t bytes);
/* Ends the running function, and every later one with this call, with PM_CANCELLED. Any thread may call it. */
pm_status pm_call_cancel(pm_call *call);
/* The report of the last function that succeeded with this call, "{}" before the first: a JSON object in UTF-8,
 * with a NUL at its end. *needed gets its size including the NUL, also if size is too small and the status is
 * PM_SIZE. With buffer NULL and size 0 it only returns the size, without an error. */
pm_status pm_call_report(pm_call *call, char *buffer, size_t size, size_t *needed);
/* A running function with this call continues to its end. */
pm_status pm_call_free(pm_call *call);

/* ---- Embeddings ---------------------------------------------------------------------------- */

/* What to embed and how. The zero value of every field means its default; one of sigma, gamma,
 * mean_neighbours, neighbours and radius is required. */
typedef struct {
    size_t struct_size;
    /* the graph */
    double sigma;            /* bandwidth of exp(-d^2 / (2 sigma^2)) */
    double gamma;            /* or of exp(-gamma d^2) */
    double mean_neighbours;  /* or: the average number of neighbours per row */
    int64_t neighbours;      /* or: this many nearest neighbours, with a separate bandwidth for each row */
    double radius;           /* cuts the graph at this distance (d <= radius stays), with a bandwidth;
                                alone: the weight there is 0.001 */
    double cutoff_weight;    /* or cuts it where a weight is below this */
    double tolerance;        /* allowed error of a row's weights; default 1e-4 */
    const char *op;          /* "csr", "pairs", "dense", "poly", "grid"; NULL for the cheapest */
    const char *isolated;    /* handling of rows without neighbours: "keep" (default), "repair" or "fail" */
    int32_t normalize_rows;  /* 1: rows are divided by their norm first */
    /* the steps */
    int32_t allow_unlabelled;/* 1: the label -1 means no label */
    const char *form;        /* "paper" (default) or "attract" */
    double coefficient;      /* alpha in form paper, beta in form attract; default 0: no labels */
    const char *table;       /* weights between labels: "equal" (default in form paper), "balanced" (default in form
                                attract), "different", "gaussian" with the bandwidth of the graph, which is
                                sigma or gamma then, "centred" */
    int64_t dim;             /* columns of the random start, eigenvectors or the map; default 2 */
    int64_t steps;           /* default 5 in form paper, 1 in form attract */
    double sigma_q;          /* standard deviation of the random start; default 1e-8 */
    uint64_t seed;           /* of the random start */
    double stop;             /* ends the steps at this relative change; residual of eigenvectors, default 1e-5 */
    const char *normalize;   /* after each step: "none" (default), "frobenius" or "centred" */
    const pm_rows *start;    /* rows of the start; NULL for the default of the form */
} pm_settings;

/* Writes to the report of call, which is required, what pm_embed would do and its cost, or with map 1 what pm_map
 * would do. */
pm_status pm_plan(pm_engine *engine, const pm_rows *x, const pm_settings *settings, int32_t map, pm_call *call);

/* Takes a few steps of the iteration. labels has one for each row, or may be NULL if coefficient is 0. out has as
 * many columns as start if there is one; otherwise as x in form attract, and settings->dim in form paper. It
 * must not overlap x. */
pm_status pm_embed(pm_engine *engine, const pm_rows *x, const int32_t *labels, const pm_settings *settings,
                   const pm_matrix *out, pm_call *call);
/* The leading eigenvectors of the graph, one per column. The form must be attract. The report has their values. */
pm_status pm_converge(pm_engine *engine, const pm_rows *x, const int32_t *labels, const pm_settings *settings,
                      const pm_matrix *out, pm_call *call);
/* A map for pictures, made from leading eigenvectors. */
pm_status pm_map(pm_engine *engine, const pm_rows *x, const pm_settings *settings, const pm_matrix *out, pm_call *call);
/* Places new rows in an embedding of rows x by their k nearest rows of x. */
pm_status pm_extend(pm_engine *engine, const pm_rows *x, const pm_rows *embedding, const pm_rows *queries, int64_t k,
                    const pm_matrix *out, pm_call *call);

/* ---- Neighbours ---------------------------------------------------------------------------- */

/* The k nearest rows of x for every query, nearest first, and equally near ones by row number. ids and distances
 * (Euclidean, either may be NULL) have queries->rows * k entries. index_bytes is 4 or 8: the size of an entry of
 * ids, which are int32_t or int64_t. With queries NULL it finds the neighbours of the rows of x, where no row is
 * its own neighbour. ids and distances must not share memory with rows that are read. If the call fails some
 * entries may have been written. */
pm_status pm_nearest(pm_engine *engine, const pm_rows *x, const pm_rows *queries, int64_t k,
                     int32_t index_bytes, void *ids, float *distances, pm_call *call);

/* Builds the truncated graph of x. It is symmetric and has no diagonal. */
pm_status pm_graph_new(pm_engine *engine, const pm_rows *x, const pm_settings *settings, pm_graph **graph, pm_call *call);
/* The graph between new rows, the queries, and x: a row for each query, a column for each row of x. Its entries are
 * those of the graph of all these rows. It uses the settings radius, which is required, sigma or gamma, and
 * normalize_rows. It compares each query with each row, so it is for few queries. */
pm_status pm_graph_between(pm_engine *engine, const pm_rows *x, const pm_rows *queries, const pm_settings *settings,
                           pm_graph **graph, pm_call *call);
pm_status pm_graph_size(pm_graph *graph, int64_t *rows, int64_t *nonzeros);
/* Compressed sparse rows, columns ascending within a row. index_bytes is 4 or 8: the size of an
 * entry of indptr (rows + 1 of them) and indices (nonzeros). Arrays that are NULL are skipped. */
pm_status pm_graph_copy(pm_graph *graph, int32_t index_bytes, void *indptr, void *indices, float *weights);
/* The Euclidean distance of each pair of the graph, in the order of its weights. x must be the rows from which the
 * graph was made. If that divided rows by their norm, the distances are those of the divided rows. */
pm_status pm_graph_distances(pm_engine *engine, pm_graph *graph, const pm_rows *x, float *distances, pm_call *call);
pm_status pm_graph_free(pm_graph *graph);

/* ---- Products with the full kernel ---------------------------------------------------------- */

/* K is the n x n matrix exp(-|x_i - x_j|^2 / (2 sigma^2)) with ones on its diagonal, by the cheapest operator that
 * meets settings->tolerance; the report has its certificate. x is not used after the call. It uses the settings
 * sigma, gamma or mean_neighbours, which only decides the bandwidth, tolerance, op, isolated and normalize_rows.
 * The operator is chosen for steps products with dim columns. */
pm_status pm_operator_new(pm_engine *engine, const pm_rows *x, const pm_settings *settings, pm_operator **op, pm_call *call);
pm_status pm_operator_apply(pm_operator *op, const pm_rows *v, const pm_matrix *out, pm_call *call); /* out = K v */
pm_status pm_operator_free(pm_operator *op);

/* ---- Models --------------------------------------------------------------------------------- */

typedef struct {
    size_t struct_size;
    const char *recipe;      /* such as "classic" or "root,unit-rows,discriminate"; NULL: the one that finds most on
                                held-out rows */
    int32_t normalize_rows;  /* 1: every row is divided by its norm */
    int32_t unmeasured;      /* 1: a given recipe is not measured */
    uint64_t seed;           /* decides which rows are held out */
    const void *names;       /* NULL, or names_size bytes of JSON, which the model keeps: {"classes": ["ant", "bee"],
                                "columns": ["length", "width"]}, the names of labels 0, 1 and so on, and of the
                                columns of x. Either may be missing. */
    size_t names_size;
    const char *goal;        /* the measure that chooses the recipe: "r1", "p8", "r8" or "map"; NULL: "r1" */
} pm_fit_settings;

/* labels has one for each row, -1 for none. settings may be NULL. */
pm_status pm_fit(pm_engine *engine, const pm_rows *x, const int32_t *labels, const pm_fit_settings *settings,
                 pm_model **model, pm_call *call);
/* Opens a file and compares all its checksums, which reads the whole file once: for a damaged file it returns
 * PM_FILE. The rows stay in the file. Functions that read them compare its checksums again: if the file was written
 * to or truncated before the model is freed, they return PM_FILE, and pm_model_save keeps the existing file.
 * pm_model_save replaces an old file by a new one, so it may save to the file that was opened. */
pm_status pm_model_open(const char *path, pm_model **model);
pm_status pm_model_save(pm_model *model, const char *path, pm_call *call);
/* Write and read the bytes of the file to and from memory. *needed gets their number. */
pm_status pm_model_write(pm_model *model, void *buffer, size_t size, size_t *needed);
pm_status pm_model_read(const void *bytes, size_t size, pm_model **model);
/* rows gets the number of fitted rows, input and output the columns of pm_model_apply. Any may be NULL. */
pm_status pm_model_size(pm_model *model, int64_t *rows, int64_t *input, int64_t *output);
/* The fitted rows in the form in which queries find them (X of the model). */
pm_status pm_model_rows(pm_model *model, const pm_matrix *out);
/* Places rows by the map, without labels. */
pm_status pm_model_apply(pm_engine *engine, pm_model *model, const pm_rows *x, const pm_matrix *out, pm_call *call);
/* The distinct labels of fitted rows, ascending. *count gets their number; with labels NULL and room 0 it only
 * returns that. With less room the status is PM_SIZE. A model of an earlier version, which does not have them, has
 * 0. */
pm_status pm_model_classes(pm_model *model, int32_t *labels, size_t room, size_t *count);
/* The name of a label, as in pm_call_report: "" if classes have no names. PM_LABELS for a label without a name. */
pm_status pm_model_class_name(pm_model *model, int32_t label, char *buffer, size_t size, size_t *needed);
/* Predicts the class of each row of x. Of the fitted rows with a label, the nearest ones to its image vote:
 * voters of them, or 8 if voters is 0. The nearest of n has n votes, the next n - 1, and the last one 1. The class
 * with most votes wins, and among classes with equally many votes the one of the nearest row. labels gets the class
 * of each row of x and shares its share of all votes. votes gets the shares of all classes, a row for each row of x
 * and a column for each label of pm_model_classes. Each of the three may be NULL. If fitted rows have no labels it
 * returns PM_LABELS. */
pm_status pm_model_predict(pm_engine *engine, pm_model *model, const pm_rows *x, int64_t voters, int32_t *labels, float *shares,
                           const pm_matrix *votes, pm_call *call);
/* A description of the model as JSON, as in pm_call_report: the report of pm_fit, and facts about its rows. */
pm_status pm_model_describe(pm_model *model, char *buffer, size_t size, size_t *needed);
pm_status pm_model_free(pm_model *model);

/* ---- Privacy --------------------------------------------------------------------------------- */

typedef struct {
    size_t struct_size;
    double epsilon;            /* has no default */
    double delta;              /* has no default */
    const char *relation;      /* "replace-one", "null", "features-replace", "features-null"; no default */
    const char *label_mode;    /* "public", "dropped", "randomised"; no default */
    double label_epsilon;      /* price of randomised labels, on top */
    const char *unit;          /* the name of the unit whose budget is spent; no default */
    const char *unit_kind;     /* NULL for "record"; or "client" */
    int32_t new_unit;          /* 1: the ledger may not know the unit yet */
    int32_t normalize_rows;    /* 1: rows are divided by their norm first */
    int32_t rest_public;       /* 1: only the one row of private_rows is private, all others are public */
    int32_t uncounted;         /* 1: no ledger pays, and nothing is counted */
    int64_t records;           /* rows that change together; default 1, required for a client */
    const char *rule;          /* NULL for "analytic"; or "classical" */
    double sigma;              /* bandwidth; required (or gamma) */
    double gamma;
    double alpha;
    const char *table;         /* NULL for "equal"; "different", "gaussian" */
    int64_t classes;           /* public number of classes */
    int64_t dim;               /* columns of the points; default 2 */
    double sigma_q;
    uint64_t seed;
    const char *op;            /* NULL by public numbers; "dense", "poly", "background" */
    double radius;
    const int64_t *private_rows; /* NULL: any row may be private */
    int64_t private_count;
    int32_t other_relation;    /* 1: the release may protect other data sets than the unit's earlier ones, by
                                  another relation, records or private_rows; 0: such a release gives PM_PRIVACY, and
                                  nothing is spent */
} pm_private_settings;

/* Writes the cost of a private first step of n rows of d features to the report of call, which is required. unit,
 * label_mode and uncounted are ignored; with epsilon and delta 0 it reports only the sensitivity. rest_public gives
 * PM_SETTING, since its bound needs the rows. */
pm_status pm_sensitivity(int64_t n, int64_t d, const pm_private_settings *settings, pm_call *call);
/* ledger is NULL if and only if settings->uncounted is 1. labels are read if alpha is not 0 or labels are
 * randomised, and may be NULL otherwise. The ledger pays before noise is drawn: a function that fails or is
 * cancelled after that returns PM_SPENT. If the only failure is that the ledger could not record the release,
 * *release is set although the status is PM_SPENT: it has been paid for and may be used. */
pm_status pm_privatize(pm_engine *engine, const pm_rows *x, const int32_t *labels, const pm_private_settings *settings,
                       pm_ledger *ledger, pm_release **release, pm_call *call);
pm_status pm_release_write(pm_release *release, void *buffer, size_t size, size_t *needed);
pm_status pm_release_read(const void *bytes, size_t size, pm_release **release);
pm_status pm_release_size(pm_release *release, int64_t *rows, int64_t *columns);
pm_status pm_release_points(pm_release *release, double *points); /* rows * columns */
pm_status pm_release_describe(pm_release *release, char *buffer, size_t size, size_t *needed);
pm_status pm_release_free(pm_release *release);
/* Later steps, from only the release and public labels. public_labels may be NULL: then there is no label term, or
 * that of the release's randomised labels. settings may be NULL. It uses the settings sigma, gamma or
 * mean_neighbours, cutoff_weight, tolerance, op, isolated, steps, stop and normalize, and coefficient as alpha if
 * use_coefficient is 1. radius and neighbours give PM_SETTING. */
pm_status pm_continue(pm_engine *engine, pm_release *release, const int32_t *public_labels, const pm_settings *settings,
                      int32_t use_coefficient, const pm_matrix *out, pm_call *call);

typedef struct {
    size_t struct_size;
    const char *kind;          /* "mixed", "gdp", "zcdp" or "pure"; no default */
    double epsilon, delta;     /* no default */
    double pure_epsilon;       /* of the pure pot of a mixed ledger */
} pm_total;
pm_status pm_ledger_create(const char *path, const pm_total *total); /* never replaces a file */
/* head is NULL, or a head from an earlier pm_ledger_describe: then a ledger that has not passed through that state,
 * such as an older copy, is refused. A later state is accepted. */
pm_status pm_ledger_open(const char *path, const char *head, pm_ledger **ledger);
/* As JSON: the total, the head and, with unit, what the unit has spent and has left, and the data sets that all its
 * spends protect. The numbers hold only for these data sets: "none" if there are none, "unknown" if the ledger has
 * not recorded them. subtotals exists if spends protect different data sets. A unit that has spent nothing gives
 * PM_PRIVACY. */
pm_status pm_ledger_describe(pm_ledger *ledger, const char *unit, const char *unit_kind, char *buffer, size_t size, size_t *needed);
pm_status pm_ledger_free(pm_ledger *ledger);

#ifdef __cplusplus
}
#endif
#endif
