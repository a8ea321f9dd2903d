/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each engine gives alone, on a real server with durable settings: the
 * numbers that one thread takes through the library from a pool of one
 * partition, beside the same store asked directly for one number at a time over
 * one connection, in turn in one run; grants of one value each, one and a
 * hundred a call; and the round trips of one call for 1, 10 and 100 hungry
 * counters, counted by a relay.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seqbroker/seqbroker.h>

#include "backends/backends.h"
#include "bench/direct.h"
#include "bench/now.h"
#include "bench/relay.h"
#include "bench/report.h"
#include "bench/stores.h"
#include "platform/text.h"
#include "support/folder.h"
#include "support/servers.h"
#include "support/take.h"
#include "support/test.h"

#define AT_ONCE        1000 /* numbers in one call */
#define LIMIT          ((int64_t)1 << 40)
#define GRANTS_COUNTER "grants/0/order"
#define WINDOW_BITS    20
#define HUNGRY_MAX     100

/* A commit of etcd costs its members a sync each, however much is in it. */
#define ETCD_BATCH_LEAST 20

enum { ENGINE, BITS, RATE, PEER, DIRECT, RATIO };

static const struct report_column columns[] = {
    [ENGINE] = {"engine", NULL, BAR_NONE, PLOT_NOT},
    [BITS] = {"memory bits", NULL, BAR_NONE, PLOT_NOT},
    [RATE] = {"seqbroker", "million/s", BAR_NONE, PLOT_LOG},
    [PEER] = {"asked directly by", NULL, BAR_NONE, PLOT_NOT},
    [DIRECT] = {"asked directly", "numbers/s", BAR_NONE, PLOT_LOG},
    [RATIO] = {"ratio", "", BAR_NONE, PLOT_NOT},
};

static const struct report_table engines = {
    "engines", "Each engine alone", NULL, SHAPE_BARS, columns, 6};

enum {
    G_ENGINE,
    G_GRANTS,
    G_TRIPS_1,
    G_US_1,
    G_TRIPS_10,
    G_US_10,
    G_TRIPS_100,
    G_US_100,
    G_BATCHED,
    G_PEER,
    G_DIRECT,
    G_RATIO
};

static const struct report_column grant_columns[] = {
    [G_ENGINE] = {"engine", NULL, BAR_NONE, PLOT_NOT},
    [G_GRANTS] = {"grants of one value", "1/s", BAR_NONE, PLOT_LOG},
    [G_TRIPS_1] = {"1 counter: round trips", "", BAR_NONE, PLOT_NOT},
    [G_US_1] = {"1 counter", "us", BAR_NONE, PLOT_LOG},
    [G_TRIPS_10] = {"10: round trips", "", BAR_NONE, PLOT_NOT},
    [G_US_10] = {"10 counters", "us", BAR_NONE, PLOT_LOG},
    [G_TRIPS_100] = {"100: round trips", "", BAR_NONE, PLOT_NOT},
    [G_US_100] = {"100 counters", "us", BAR_NONE, PLOT_LOG},
    [G_BATCHED] = {"grants, 100 a call", "1/s", BAR_NONE, PLOT_LOG},
    [G_PEER] = {"asked directly by", NULL, BAR_NONE, PLOT_NOT},
    [G_DIRECT] = {"asked directly", "1/s", BAR_NONE, PLOT_LOG},
    [G_RATIO] = {"ratio", "", BAR_AT_LEAST, PLOT_NOT},
};

static const struct report_table grants_table = {
    "grants", "The engine by itself", NULL, SHAPE_BARS, grant_columns, 12};

struct bench {
    struct report *report;
    double seconds;
    int runs;
};

/* --- through the library --- */

static double broker_rate(struct seqb_sequence *sequence, double seconds)
{
    static int64_t numbers[AT_ONCE];
    const double start = now_s();
    struct seqb_error err;
    int64_t taken = 0;

    while (now_s() - start < seconds) {
        if (take_numbers(sequence, AT_ONCE, numbers, &err) != SEQB_OK)
            fail_msg("%s", err.text);
        taken += AT_ONCE;
    }
    return (double)taken / (now_s() - start);
}

static double direct_rate(const struct direct_kind *kind, struct direct *direct,
                          double seconds)
{
    const double start = now_s();
    int64_t taken = 0;

    while (now_s() - start < seconds) {
        assert_true(kind->next(direct));
        taken++;
    }
    return (double)taken / (now_s() - start);
}

static struct seqb_broker *open_broker(const struct store *store,
                                       int memory_bits)
{
    struct seqb_broker *broker = NULL;
    struct seqb_error err;
    char path[128];
    FILE *file;

    (void)text_format(path, sizeof path, "%s/%d.conf", store->folder,
                      memory_bits);
    file = fopen(path, "we");
    assert_non_null(file);
    fprintf(file,
            "backends = ( { name = \"one\"; engine = \"%s\"; %s "
            "%s = \"b%d%s\"; },"
            "  { name = \"authority\"; engine = \"sqlite\"; path = "
            "\"a-%s-%d.db\"; } );\n"
            "pools = ( { name = \"main\"; partitions = [ \"one\" ]; "
            "authority = \"authority\"; timeout = \"5s\"; } );\n"
            "sequences = ( { key = \"order\"; memory_bits = %d; deadline = "
            "\"30s\"; max_unused = 16000000; } );\n",
            store->ops->engine, store->settings, store->place, memory_bits,
            store->suffix, store->ops->engine, memory_bits, memory_bits);
    assert_int_equal(fclose(file), 0);
    if (seqb_open(path, &broker, &err) != SEQB_OK)
        fail_msg("%s", err.text);
    return broker;
}

static void bench_numbers(const struct bench *bench, struct store *store,
                          int memory_bits)
{
    struct seqb_broker *broker = open_broker(store, memory_bits);
    struct direct *direct =
        store->direct->open(store->direct_path, store->port);
    struct seqb_sequence *sequence = NULL;

    assert_non_null(direct);
    assert_ok(seqb_get_sequence(broker, "order", &sequence, NULL));
    report_row(bench->report);
    report_text(bench->report, ENGINE, "%s", store->ops->engine);
    report_text(bench->report, BITS, "%d", memory_bits);
    report_text(bench->report, PEER, "%s", store->direct->what);
    /* Not counted: the ring grows with the demand. */
    (void)broker_rate(sequence, bench->seconds);
    for (int i = 0; i < bench->runs; i++) {
        const double ours = broker_rate(sequence, bench->seconds);
        const double theirs =
            direct_rate(store->direct, direct, bench->seconds);

        report_sample(bench->report, RATE, ours / 1e6);
        report_sample(bench->report, DIRECT, theirs);
        report_sample(bench->report, RATIO, ours / theirs);
    }
    report_row_end(bench->report);
    store->direct->close(direct);
    seqb_close(broker);
}

/* --- the engine alone --- */

static struct seqb_backend *open_backend(const struct store *store,
                                         int32_t port)
{
    struct seqb_backend_options options = store->options;
    struct seqb_backend *backend = NULL;
    struct seqb_error err;

    options.port = port;
    if (store->ops->open(&options, &backend, &err) != SEQB_OK)
        fail_msg("%s", err.text);
    return backend;
}

static void counter_prepare(const struct store *store,
                            struct seqb_backend *backend, const char *counter)
{
    const struct seqb_window window = {
        .counter = counter, .window = 1, .size = (int64_t)1 << WINDOW_BITS};
    int64_t standing;

    if (store->ops->guarantee == SEQB_WINDOWED)
        assert_ok(store->ops->install(backend, &window, &standing, NULL));
}

static struct seqb_request request_of(const struct store *store,
                                      const char *counter)
{
    return (struct seqb_request){
        .counter = counter,
        .want = 1,
        .limit = store->ops->guarantee == SEQB_WINDOWED
                     ? (int64_t)1 << WINDOW_BITS
                     : LIMIT,
    };
}

static void grant_one(const struct store *store, struct seqb_backend *backend)
{
    struct seqb_request request = request_of(store, GRANTS_COUNTER);

    if (store->ops->reserve(backend, &request, 1, NULL) != SEQB_OK ||
        (request.status != SEQB_OK && request.status != SEQB_EXHAUSTED))
        fail_msg("%s", request.error.text);
}

static void bench_grants(const struct bench *bench, const struct store *store)
{
    struct seqb_backend *backend = open_backend(store, store->port);

    counter_prepare(store, backend, GRANTS_COUNTER);
    for (int i = 0; i < bench->runs; i++) {
        const double start = now_s();
        int64_t grants = 0;

        for (; now_s() - start < bench->seconds; grants++)
            grant_one(store, backend);
        report_sample(bench->report, G_GRANTS,
                      (double)grants / (now_s() - start));
    }
    store->ops->close(backend);
}

/* One call for `n` counters: how many of them were granted a value. */
static int64_t call_many(const struct store *store,
                         struct seqb_backend *backend,
                         char names[][SEQB_COUNTER_SIZE], size_t n)
{
    struct seqb_request requests[HUNGRY_MAX];
    int64_t granted = 0;

    for (size_t i = 0; i < n; i++)
        requests[i] = request_of(store, names[i]);
    assert_ok(store->ops->reserve(backend, requests, n, NULL));
    for (size_t i = 0; i < n; i++)
        granted += requests[i].status == SEQB_OK;
    return granted;
}

/* How long it takes, in us. */
static double call_us(const struct store *store, struct seqb_backend *backend,
                      char names[][SEQB_COUNTER_SIZE], size_t n)
{
    const int64_t start_ns = now_ns();

    assert_int_equal(call_many(store, backend, names, n), n);
    return (double)(now_ns() - start_ns) / 1000;
}

/* Counters that can be granted from, once they were asked for. Each has a key
 * of its own, which names the table of an engine that makes tables. */
static void counters_prepare(const struct store *store,
                             struct seqb_backend *backend,
                             char names[][SEQB_COUNTER_SIZE], size_t n,
                             char letter)
{
    for (size_t i = 0; i < n; i++) {
        (void)text_format(names[i], SEQB_COUNTER_SIZE, "%c%zu/0/%c%zuk%zu",
                          letter, n, letter, n, i);
        counter_prepare(store, backend, names[i]);
    }
    (void)call_many(store, backend, names, n); /* makes them */
}

/* The round trips and time of one call for `n` counters that exist: into
 * `column` and the next. */
static void bench_hungry(const struct bench *bench, const struct store *store,
                         size_t n, size_t column)
{
    static char names[HUNGRY_MAX][SEQB_COUNTER_SIZE];
    struct relay *relay = store->port == 0 ? NULL : relay_new(store->port);
    struct seqb_backend *backend =
        open_backend(store, relay == NULL ? 0 : relay_port(relay));

    counters_prepare(store, backend, names, n, 'h');
    for (int run = 0; run < bench->runs; run++) {
        const int64_t before = relay == NULL ? 0 : relay_trips(relay);

        report_sample(bench->report, column + 1,
                      call_us(store, backend, names, n));
        if (relay != NULL)
            report_sample(bench->report, column,
                          (double)(relay_trips(relay) - before));
    }
    if (relay == NULL)
        report_text(bench->report, column, "none");
    store->ops->close(backend);
    relay_free(relay);
}

static double batched_rate(const struct store *store,
                           struct seqb_backend *backend,
                           char names[][SEQB_COUNTER_SIZE], double seconds)
{
    const double start = now_s();
    int64_t granted = 0;

    while (now_s() - start < seconds)
        granted += call_many(store, backend, names, HUNGRY_MAX);
    return (double)granted / (now_s() - start);
}

/* Grants of calls for many counters, one call after the other, and the store
 * asked directly, in turn. */
static void bench_batched(const struct bench *bench, const struct store *store)
{
    static char names[HUNGRY_MAX][SEQB_COUNTER_SIZE];
    struct seqb_backend *backend = open_backend(store, store->port);
    struct direct *direct =
        store->direct->open(store->direct_path, store->port);

    assert_non_null(direct);
    counters_prepare(store, backend, names, HUNGRY_MAX, 'b');
    report_text(bench->report, G_PEER, "%s", store->direct->what);
    if (strcmp(store->ops->engine, "etcd") == 0)
        report_bar(bench->report, G_RATIO, ETCD_BATCH_LEAST);
    for (int i = 0; i < bench->runs; i++) {
        const double ours = batched_rate(store, backend, names, bench->seconds);
        const double theirs =
            direct_rate(store->direct, direct, bench->seconds);

        report_sample(bench->report, G_BATCHED, ours);
        report_sample(bench->report, G_DIRECT, theirs);
        report_sample(bench->report, G_RATIO, ours / theirs);
    }
    store->direct->close(direct);
    store->ops->close(backend);
}

/* --- all of them --- */

static void grants_row(const struct bench *bench, const struct store *store)
{
    report_row(bench->report);
    report_text(bench->report, G_ENGINE, "%s", store->ops->engine);
    bench_grants(bench, store);
    bench_hungry(bench, store, 1, G_TRIPS_1);
    bench_hungry(bench, store, 10, G_TRIPS_10);
    bench_hungry(bench, store, HUNGRY_MAX, G_TRIPS_100);
    bench_batched(bench, store);
    report_row_end(bench->report);
}

/* SEQB_BENCH_ENGINE names the only engine to be measured. */
static bool is_chosen(const struct store *store)
{
    const char *engine = getenv("SEQB_BENCH_ENGINE");

    return engine == NULL || strcmp(engine, store->ops->engine) == 0;
}

int main(int argc, char **argv)
{
    static struct store stores[STORES_MAX];
    struct report_arguments arguments = {.span = 0.4, .runs = 5};
    char folder[] = "/tmp/seqb-XXXXXX";
    struct bench bench;
    size_t count;

    bench.report = report_open(argc, argv, &arguments);
    bench.seconds = arguments.span;
    bench.runs = arguments.runs;
    block_sigpipe();
    assert_non_null(mkdtemp(folder));
    count = stores_start(stores, folder);
#ifdef SEQB_WITH_ETCD
    count += stores_add_etcd(&stores[count], folder);
#endif
    report_table(bench.report, &engines);
    for (size_t i = 0; i < count; i++) {
        if (!is_chosen(&stores[i]))
            continue;
        bench_numbers(&bench, &stores[i], 3);
        bench_numbers(&bench, &stores[i], 10);
    }
    report_table(bench.report, &grants_table);
    for (size_t i = 0; i < count; i++) {
        if (is_chosen(&stores[i]))
            grants_row(&bench, &stores[i]);
    }
    folder_remove(folder);
    return report_close(bench.report);
}
