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
 * otherwise. Nothing that the library returns has to be freed but handles, each by its own
 * function; arrays and texts go to buffers of the caller's. Memory of the caller's is read and
 * written during a call only. What a function writes must not overlap what it reads, nor one result
 * another: that is PM_SHAPE. No two functions may write to the same memory at once. Fields and arguments
 * that are said to be 1 or 0 are PM_SETTING or PM_PRIVACY with another number, and so are numbers that are not
 * finite. On amd64 and arm64 results do not depend on the floating-point mode of the caller, which is left as it was.
 */
#ifndef PM_H
#define PM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. A minor version adds functions, fields at the end of structs
 * and statuses; a major version changes what there is. */
#define PM_ABI_MAJOR 1
#define PM_ABI_MINOR 0

/* The version of the library that this header came with. */
#define PM_VERSION "0.1.0"

typedef int32_t pm_status;
enum {
    PM_OK = 0,
    PM_ARGUMENT = 1,      /* NULL where something is wanted, a struct_size of no version, text that is not UTF-8 */
    PM_HANDLE = 2,        /* no handle, one of another kind, or one that was freed */
    PM_SETTING = 3,       /* a setting outside its range, or two that exclude each other */
    PM_SHAPE = 4,         /* sizes that do not fit each other, or strides below a row */
    PM_NOT_FINITE = 5,    /* a NaN or an infinity */
    PM_ZERO_ROW = 6,      /* a row of zeros where rows are divided by their norm */
    PM_LABELS = 7,        /* labels that cannot be used */
    PM_TOLERANCE = 8,     /* no operator keeps the tolerance, or rows are isolated */
    PM_DIVERGED = 9,      /* the iterate grows without end */
    PM_MEMORY = 10,       /* the budget, or the machine, has too little memory */
    PM_CANCELLED = 11,    /* pm_call_cancel ended the call */
    PM_BUSY = 12,         /* the pm_call is in use by another function; or the ledger by another handle or process */
    PM_REENTRANT = 13,    /* called by a progress function of the same engine */
    PM_SIZE = 14,         /* the buffer is too small; the size that is wanted was returned */
    PM_FILE = 15,         /* a file that is not what it should be, or damaged */
    PM_SYSTEM = 16,       /* the system refused: no such file, no permission, disk full */
    PM_PRIVACY = 17,      /* a release that nothing is proved for, or that lacks a setting */
    PM_BUDGET = 18,       /* the ledger has too little left; nothing was spent */
    PM_SPENT = 19,        /* failed after the ledger had paid: the budget is spent */
    PM_FORKED = 20,       /* this process was forked after the library was loaded; start it by spawn or exec */
    PM_INTERNAL = 21      /* a fault of the library */
};

typedef struct pm_engine pm_engine;     /* workers and a memory budget */
typedef struct pm_call pm_call;         /* progress, cancellation and report of a call */
typedef struct pm_graph pm_graph;       /* a sparse matrix of weights */
typedef struct pm_operator pm_operator; /* products with the full kernel */
typedef struct pm_model pm_model;       /* what pm_fit has learned */
typedef struct pm_release pm_release;   /* a private first step */
typedef struct pm_ledger pm_ledger;     /* who has spent how much privacy */

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
const char *pm_status_name(pm_status status); /* such as "PM_SHAPE", "" for a number that is none; static */

/* The text of the last error of this thread, "" when there was none. It is the library's, and
 * valid until the next function of the library fails on this thread, or the thread ends. It has
 * no values of features and labels. */
const char *pm_last_error(void);

/* ---- Engines ---------------------------------------------------------------------------- */

typedef struct {
    size_t struct_size;
    int32_t workers;        /* threads of work; 0 for as many as there are processors */
    int32_t measure;        /* 1: operators are chosen by the measured speed of this machine;
                               0: the same choice on every machine */
    int64_t budget;         /* bytes that calls may take together; 0 for three quarters of what is available */
    const char *level;      /* lowers the level of instructions, such as "avx2"; NULL for the highest */
} pm_engine_options;

pm_status pm_engine_new(const pm_engine_options *options, pm_engine **engine); /* options may be NULL */
pm_status pm_engine_workers(pm_engine *engine, int32_t *workers);
/* Waits for functions that run with the engine. NULL is allowed, as for all _free functions. */
pm_status pm_engine_free(pm_engine *engine);

/* ---- Calls: progress, cancellation, report ------------------------------------------------ */

/* A pm_call may be given to functions that take long, to one at a time. NULL is allowed
 * wherever a function does not say that it needs one. */
pm_status pm_call_new(pm_call **call);
/* progress is called by threads of the library and by the one that called the function, one at a
 * time, and should be quick. It may call pm_call_cancel; functions with the engine are PM_REENTRANT
 * there, others that take this call, or change it, PM_BUSY. It runs in the floating-point mode of
 * the function's caller. stage is valid until progress returns. NULL for nobody. */
typedef void (*pm_progress)(const char *stage, int64_t done, int64_t total, void *user);
pm_status pm_call_on_progress(pm_call *call, pm_progress progress, void *user);
/* Counts so many bytes of the caller's own among those of the next functions, against the budget. */
pm_status pm_call_reserve(pm_call *call, int64_t bytes);
/* Ends the running function, and every later one with this call, with PM_CANCELLED. From any thread. */
pm_status pm_call_cancel(pm_call *call);
/* The report of the last function that succeeded with this call, "{}" before: an object of JSON,
 * UTF-8, with a NUL at its end. *needed gets its size with the NUL, also where size is too small
 * and the status PM_SIZE. buffer NULL and size 0 ask for the size alone, and are no error. */
pm_status pm_call_report(pm_call *call, char *buffer, size_t size, size_t *needed);
/* A function that runs with the call goes on to its end. */
pm_status pm_call_free(pm_call *call);

/* ---- Embeddings ---------------------------------------------------------------------------- */

/* What to embed and how. The zero value of every field means its default; one of sigma, gamma,
 * mean_neighbours, neighbours and radius is required. */
typedef struct {
    size_t struct_size;
    /* the graph */
    double sigma;            /* bandwidth of exp(-d^2 / (2 sigma^2)) */
    double gamma;            /* or of exp(-gamma d^2) */
    double mean_neighbours;  /* or: so many neighbours a row on average */
    int64_t neighbours;      /* or: so many nearest neighbours, each row with a bandwidth of its own */
    double radius;           /* cuts the graph at this distance (d <= radius stays), with a bandwidth;
                                alone: the weight there is 0.001 */
    double cutoff_weight;    /* or where a weight is below this */
    double tolerance;        /* wanted error of a row's weights; default 1e-4 */
    const char *op;          /* "csr", "pairs", "dense", "poly", "grid"; NULL for the cheapest */
    const char *isolated;    /* what becomes of rows without neighbours: "keep" (default), "repair" or "fail" */
    int32_t normalize_rows;  /* 1: rows are divided by their norm first */
    /* the steps */
    int32_t allow_unlabelled;/* 1: the label -1 is none */
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
    const pm_rows *start;    /* rows to begin with; NULL for the default of the form */
} pm_settings;

/* Writes to the report of call, which is needed, what pm_embed would do and what it would cost;
 * with map 1 what pm_map would do. */
pm_status pm_plan(pm_engine *engine, const pm_rows *x, const pm_settings *settings, int32_t map, pm_call *call);

/* Takes a few steps of the iteration. labels has one for each row, or is NULL where coefficient
 * is 0. out has as many columns as x in form attract, settings->dim in form paper, and those
 * of start if there is one. It must not overlap x. */
pm_status pm_embed(pm_engine *engine, const pm_rows *x, const int32_t *labels, const pm_settings *settings,
                   const pm_matrix *out, pm_call *call);
/* The leading eigenvectors of the graph, one a column. The form must be attract. The report has their values. */
pm_status pm_converge(pm_engine *engine, const pm_rows *x, const int32_t *labels, const pm_settings *settings,
                      const pm_matrix *out, pm_call *call);
/* A map for pictures, made of leading eigenvectors. */
pm_status pm_map(pm_engine *engine, const pm_rows *x, const pm_settings *settings, const pm_matrix *out, pm_call *call);
/* Places new rows in an embedding of rows x by their k nearest rows of x. */
pm_status pm_extend(pm_engine *engine, const pm_rows *x, const pm_rows *embedding, const pm_rows *queries, int64_t k,
                    const pm_matrix *out, pm_call *call);

/* ---- Neighbours ---------------------------------------------------------------------------- */

/* The k nearest rows of x for every query, nearest first, among equals by row number:
 * ids and distances (Euclidean, either may be NULL) have queries->rows * k entries. index_bytes is
 * 4 or 8: the size of an entry of ids, which are int32_t or int64_t. queries NULL asks for the
 * neighbours of x itself, no row being its own. ids and distances share no memory with rows that
 * are read. Where the call fails some entries may be written. */
pm_status pm_nearest(pm_engine *engine, const pm_rows *x, const pm_rows *queries, int64_t k,
                     int32_t index_bytes, void *ids, float *distances, pm_call *call);

/* Builds the truncated graph of x. It is symmetric and has no diagonal. */
pm_status pm_graph_new(pm_engine *engine, const pm_rows *x, const pm_settings *settings, pm_graph **graph, pm_call *call);
/* The graph between new rows, the queries, and x: a row for each query, a column for each row of x. Its entries are
 * those that the graph of all of them would have. Of the settings it uses radius, which is required, sigma or gamma, and
 * normalize_rows. It compares each query with each row: for few queries. */
pm_status pm_graph_between(pm_engine *engine, const pm_rows *x, const pm_rows *queries, const pm_settings *settings,
                           pm_graph **graph, pm_call *call);
pm_status pm_graph_size(pm_graph *graph, int64_t *rows, int64_t *nonzeros);
/* Compressed sparse rows, columns ascending within a row. index_bytes is 4 or 8: the size of an
 * entry of indptr (rows + 1 of them) and indices (nonzeros). Arrays that are NULL are left out. */
pm_status pm_graph_copy(pm_graph *graph, int32_t index_bytes, void *indptr, void *indices, float *weights);
/* The Euclidean distance of each pair of the graph, in the order of its weights; x as it was when the graph was made. Where that
 * divided rows by their norm, the distances are those of the divided rows. */
pm_status pm_graph_distances(pm_engine *engine, pm_graph *graph, const pm_rows *x, float *distances, pm_call *call);
pm_status pm_graph_free(pm_graph *graph);

/* ---- Products with the full kernel ---------------------------------------------------------- */

/* K is the n x n matrix exp(-|x_i - x_j|^2 / (2 sigma^2)), ones on its diagonal, by the cheapest
 * operator that keeps settings->tolerance; the report has its certificate. x is not used after
 * the call. Of the settings it uses sigma, gamma or mean_neighbours, which decides the bandwidth alone, tolerance, op,
 * isolated and normalize_rows; steps and dim say how many products with how many columns it is chosen for. */
pm_status pm_operator_new(pm_engine *engine, const pm_rows *x, const pm_settings *settings, pm_operator **op, pm_call *call);
pm_status pm_operator_apply(pm_operator *op, const pm_rows *v, const pm_matrix *out, pm_call *call); /* out = K v */
pm_status pm_operator_free(pm_operator *op);

/* ---- Models --------------------------------------------------------------------------------- */

typedef struct {
    size_t struct_size;
    const char *recipe;      /* such as "classic" or "root,unit-rows,discriminate"; NULL: the one that finds
                                most on rows held out */
    int32_t normalize_rows;  /* 1: every row is divided by its norm */
    int32_t unmeasured;      /* 1: a recipe that is given is not measured */
    uint64_t seed;           /* decides which rows are held out */
    const void *names;       /* NULL, or names_size bytes of JSON, which the model keeps: {"classes": ["ant", "bee"],
                                "columns": ["length", "width"]}, the names of labels 0, 1 and so on, and of the columns of x.
                                Either may be left out. */
    size_t names_size;
    const char *goal;        /* what the recipe is chosen by: "r1", "p8", "r8" or "map"; NULL: "r1" */
} pm_fit_settings;

/* labels has one for each row, -1 for none. settings may be NULL. */
pm_status pm_fit(pm_engine *engine, const pm_rows *x, const int32_t *labels, const pm_fit_settings *settings,
                 pm_model **model, pm_call *call);
/* Opens a file and compares all its checksums, which reads all of it once: a damaged file is PM_FILE. The rows stay in
 * the file. Functions that read them compare its checksums again: where it was written to or cut short before the model
 * is freed, they return PM_FILE, and pm_model_save leaves the file that was there. pm_model_save puts a new file in the
 * place of an old one, so it may be used on the file that was opened. */
pm_status pm_model_open(const char *path, pm_model **model);
pm_status pm_model_save(pm_model *model, const char *path, pm_call *call);
/* The bytes of the file, to and from memory. *needed gets their number. */
pm_status pm_model_write(pm_model *model, void *buffer, size_t size, size_t *needed);
pm_status pm_model_read(const void *bytes, size_t size, pm_model **model);
/* rows is the number of rows it was fitted on, input and output are the columns of pm_model_apply. Any may be NULL. */
pm_status pm_model_size(pm_model *model, int64_t *rows, int64_t *input, int64_t *output);
/* The fitted rows, as queries are to find them (X of the model). */
pm_status pm_model_rows(pm_model *model, const pm_matrix *out);
/* Places rows by the map, without labels. */
pm_status pm_model_apply(pm_engine *engine, pm_model *model, const pm_rows *x, const pm_matrix *out, pm_call *call);
/* The labels that fitted rows have, ascending: count of them. labels NULL and room 0 ask for the count alone; with less room
 * than that the status is PM_SIZE. A model of an earlier version, which has not kept them, has 0. */
pm_status pm_model_classes(pm_model *model, int32_t *labels, size_t room, size_t *count);
/* The name of a label, in the manner of pm_call_report: "" where classes have no names. PM_LABELS for a label that has none. */
pm_status pm_model_class_name(pm_model *model, int32_t label, char *buffer, size_t size, size_t *needed);
/* Predicts the class of each row of x. Of the fitted rows with a label, the nearest ones to its image vote: as many as voters
 * says, 0 for 8. The nearest of n has n votes, the next n - 1, and the last one 1; the class with most votes wins, and of
 * classes with equally many the one of the nearest row. labels and shares, its share of all votes, have an entry for each row of x; votes has the
 * shares of all classes, a row for each of x and a column for each label of pm_model_classes. Each of the three may be NULL.
 * Without labels of fitted rows it is PM_LABELS. */
pm_status pm_model_predict(pm_engine *engine, pm_model *model, const pm_rows *x, int64_t voters, int32_t *labels, float *shares,
                           const pm_matrix *votes, pm_call *call);
/* What the model is, as JSON, in the manner of pm_call_report: the report of pm_fit, and what is known of its rows. */
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
    const char *unit;          /* whose budget is spent; no default */
    const char *unit_kind;     /* NULL for "record"; or "client" */
    int32_t new_unit;          /* 1: the ledger may not know the unit yet */
    int32_t normalize_rows;    /* 1: rows are divided by their norm first */
    int32_t rest_public;       /* 1: the one row of private_rows is private, all others are public */
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
    int32_t other_relation;    /* 1: the release may protect other data sets than the unit's earlier ones, by another
                                  relation, records or private_rows; 0: that is PM_PRIVACY, and nothing is spent */
} pm_private_settings;

/* What a private first step of n rows of d features would cost, into the report of call, which is needed.
 * unit, label_mode and uncounted are not looked at; with epsilon and delta 0 it tells the sensitivity alone.
 * rest_public is PM_SETTING: that bound needs the rows. */
pm_status pm_sensitivity(int64_t n, int64_t d, const pm_private_settings *settings, pm_call *call);
/* ledger is NULL where settings->uncounted is 1, and only there. labels are read where alpha is not 0 or labels are
 * randomised, and may be NULL elsewhere. The ledger pays before noise is drawn: a function that fails or is cancelled
 * later is PM_SPENT. Where all that failed is to note in the ledger what was released, *release is set beside PM_SPENT:
 * it has been paid for and may be used. */
pm_status pm_privatize(pm_engine *engine, const pm_rows *x, const int32_t *labels, const pm_private_settings *settings,
                       pm_ledger *ledger, pm_release **release, pm_call *call);
pm_status pm_release_write(pm_release *release, void *buffer, size_t size, size_t *needed);
pm_status pm_release_read(const void *bytes, size_t size, pm_release **release);
pm_status pm_release_size(pm_release *release, int64_t *rows, int64_t *columns);
pm_status pm_release_points(pm_release *release, double *points); /* rows * columns */
pm_status pm_release_describe(pm_release *release, char *buffer, size_t size, size_t *needed);
pm_status pm_release_free(pm_release *release);
/* Later steps, from the release and public labels alone. public_labels may be NULL: there is no label term then, or
 * that of the release's own randomised labels. settings may be NULL. Of the settings it uses sigma, gamma or
 * mean_neighbours, cutoff_weight, tolerance, op, isolated, steps, stop and normalize; coefficient is alpha where
 * use_coefficient is 1. radius and neighbours are PM_SETTING. */
pm_status pm_continue(pm_engine *engine, pm_release *release, const int32_t *public_labels, const pm_settings *settings,
                      int32_t use_coefficient, const pm_matrix *out, pm_call *call);

typedef struct {
    size_t struct_size;
    const char *kind;          /* "mixed", "gdp", "zcdp" or "pure"; no default */
    double epsilon, delta;     /* no default */
    double pure_epsilon;       /* of the pure pot of a mixed ledger */
} pm_total;
pm_status pm_ledger_create(const char *path, const pm_total *total); /* never replaces a file */
/* head NULL, or what pm_ledger_describe said before: a ledger that has not gone through that state, such as an older
 * copy, is then refused. A later state is accepted. */
pm_status pm_ledger_open(const char *path, const char *head, pm_ledger **ledger);
/* As JSON: the total, the head and, with unit, what it has spent and has left, and what all its spends protect: the
 * numbers are for these data sets and for no others, "none" for none, "unknown" where the ledger has not noted it. subtotals is there where spends protect different
 * ones. A unit that has spent nothing is PM_PRIVACY. */
pm_status pm_ledger_describe(pm_ledger *ledger, const char *unit, const char *unit_kind, char *buffer, size_t size, size_t *needed);
pm_status pm_ledger_free(pm_ledger *ledger);

#ifdef __cplusplus
}
#endif
#endif
