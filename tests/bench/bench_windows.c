/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it costs that a partition counts in windows which its neighbours lease:
 * each engine in a pool of four stores, once with direct counters and once
 * with neighbours, in turn in one run, over one real server with durable
 * settings. Two Redis, which always count in windows, stand beside two
 * files and lease from one of them, or from both. And what a SQLite file's
 * grant costs more because its pages are compared with its log.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <seqbroker/seqbroker.h>

#include "backends/backends.h"
#include "backends/sqlite/log.h"
#include "bench/now.h"
#include "bench/report.h"
#include "bench/stores.h"
#include "platform/text.h"
#include "support/folder.h"
#include "support/servers.h"
#include "support/take.h"
#include "support/test.h"
#include "support/wrap.h"

#define AT_ONCE    1000 /* numbers in one call */
#define LIMIT      ((int64_t)1 << 40)
#define LEAST      0.9
#define FIRST_FILE 2 /* partition; beside a store that forgets */

/* Windows of four neighbours are small by default, those of an authority large:
 * each gives less of its time to the next one. */
enum way { DIRECT, SMALL, LARGE, WAYS };

static const int window_bits[WAYS] = {[SMALL] = 8, [LARGE] = 20};

/* The rate of each way, and the ratio of windows to direct counters. */
enum { ENGINE, RATE_DIRECT, RATE_SMALL, RATIO_SMALL, RATE_LARGE, RATIO_LARGE };

#define COLUMNS(what, unit)                                                    \
    {                                                                          \
        [ENGINE] = {"engine", NULL, BAR_NONE, PLOT_NOT},                       \
        [RATE_DIRECT] = {what ", direct", unit, BAR_NONE, PLOT_LOG},           \
        [RATE_SMALL] = {"windows of 2^8", unit, BAR_NONE, PLOT_LOG},           \
        [RATIO_SMALL] = {"2^8 / direct", "", BAR_AT_LEAST, PLOT_NOT},          \
        [RATE_LARGE] = {"windows of 2^20", unit, BAR_NONE, PLOT_LOG},          \
        [RATIO_LARGE] = {"2^20 / direct", "", BAR_AT_LEAST, PLOT_NOT},         \
    }

static const struct report_column numbers_columns[] =
    COLUMNS("numbers", "million/s");
static const struct report_column grants_columns[] = COLUMNS("grants", "1/s");

static const struct report_table numbers_table = {
    "windows",
    "Numbers in windows of neighbours",
    NULL,
    SHAPE_BARS,
    numbers_columns,
    6};

static const struct report_table grants_table = {
    "windows-grants",
    "Grants of one value in windows",
    NULL,
    SHAPE_BARS,
    grants_columns,
    6};

enum { C_ALONE, C_GRANTS, C_RATIO, C_COST };

static const struct report_column compare_columns[] = {
    [C_ALONE] = {"grants, not compared", "1/s", BAR_NONE, PLOT_NOT},
    [C_GRANTS] = {"grants", "1/s", BAR_NONE, PLOT_NOT},
    [C_RATIO] = {"ratio", "", BAR_NONE, PLOT_NOT},
    [C_COST] = {"comparisons, a grant", "us", BAR_NONE, PLOT_NOT},
};

static const struct report_table compare_table = {
    "compare", "A SQLite file and its log", NULL, SHAPE_BARS, compare_columns,
    4};

struct bench {
    struct report *report;
    double seconds;
    int runs;
};

/* What was measured of each way in turn. */
static void sample(const struct bench *bench, const double rates[WAYS])
{
    report_sample(bench->report, RATE_DIRECT, rates[DIRECT]);
    report_sample(bench->report, RATE_SMALL, rates[SMALL]);
    report_sample(bench->report, RATIO_SMALL, rates[SMALL] / rates[DIRECT]);
    report_sample(bench->report, RATE_LARGE, rates[LARGE]);
    report_sample(bench->report, RATIO_LARGE, rates[LARGE] / rates[DIRECT]);
}

static void row_begin(const struct bench *bench, const struct store *store)
{
    report_row(bench->report);
    report_text(bench->report, ENGINE, "%s", store->ops->engine);
    report_bar(bench->report, RATIO_SMALL, LEAST);
    report_bar(bench->report, RATIO_LARGE, LEAST);
}

/* --- through the library --- */

struct side {
    struct seqb_broker *broker;
    struct seqb_sequence *sequence;
};

/* Partition i, of a store of its own in each way. */
static void backend_write(FILE *file, const struct store *store, enum way way,
                          int i)
{
    const char letter = STORE_LETTERS[way];
    const char *separator = i == 0 ? "" : ",\n";

    if (store->ops->guarantee == SEQB_WINDOWED && i >= FIRST_FILE)
        fprintf(file,
                "%s  { name = \"p%d\"; engine = \"sqlite\"; path = "
                "\"%s-%c%d.db\"; }",
                separator, i, store->ops->engine, letter, i);
    else
        fprintf(file,
                "%s  { name = \"p%d\"; engine = \"%s\"; %s "
                "connect_timeout = \"10s\"; %s = \"%c%d%s\"; }",
                separator, i, store->ops->engine, store->settings, store->place,
                letter, i, store->suffix);
}

static const char *authority_of(const struct store *store, enum way way)
{
    if (way != DIRECT)
        return "neighbours";
    return store->ops->guarantee == SEQB_WINDOWED ? "p2" : "none";
}

static void topology_write(const char *path, const struct store *store,
                           enum way way)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    fprintf(file, "backends = (\n");
    for (int i = 0; i < STORE_PLACES; i++)
        backend_write(file, store, way, i);
    fprintf(file,
            " );\n"
            "pools = ( { name = \"main\"; timeout = \"5s\";\n"
            "  partitions = [ \"p0\", \"p1\", \"p2\", \"p3\" ];\n"
            "  authority = \"%s\"; window_bits = %d; } );\n"
            "sequences = ( { key = \"order\"; deadline = \"30s\";\n"
            "  max_unused = 16000000; } );\n",
            authority_of(store, way), window_bits[way == DIRECT ? LARGE : way]);
    assert_int_equal(fclose(file), 0);
}

/* A broker of each way has a state directory of its own. */
static struct side side_open(const struct store *store, enum way way)
{
    struct side side = {0};
    struct seqb_error err;
    char folder[96];
    char path[128];

    (void)text_format(folder, sizeof folder, "%s/%s-%d", store->folder,
                      store->ops->engine, (int)way);
    (void)text_format(path, sizeof path, "%s.conf", folder);
    topology_write(path, store, way);
    assert_int_equal(setenv("SEQBROKER_STATE_DIR", folder, 1), 0);
    if (seqb_open(path, &side.broker, &err) != SEQB_OK ||
        seqb_get_sequence(side.broker, "order", &side.sequence, &err) !=
            SEQB_OK)
        fail_msg("%s", err.text);
    return side;
}

/* In millions a second. */
static double numbers_rate(const struct side *side, double seconds)
{
    static int64_t numbers[AT_ONCE];
    const double start = now_s();
    struct seqb_error err;
    int64_t taken = 0;

    for (; now_s() - start < seconds; taken += AT_ONCE) {
        if (take_numbers(side->sequence, AT_ONCE, numbers, &err) != SEQB_OK)
            fail_msg("%s", err.text);
    }
    return (double)taken / 1e6 / (now_s() - start);
}

/* The first of each is not counted: rings and runs of windows grow with the
 * demand. */
static void numbers_row(const struct bench *bench, const struct store *store)
{
    struct side sides[WAYS];

    for (int way = 0; way < WAYS; way++)
        sides[way] = side_open(store, (enum way)way);
    row_begin(bench, store);
    for (int run = -1; run < bench->runs; run++) {
        double rates[WAYS];

        for (int way = 0; way < WAYS; way++)
            rates[way] = numbers_rate(&sides[way], bench->seconds);
        if (run >= 0)
            sample(bench, rates);
    }
    report_row_end(bench->report);
    for (int way = 0; way < WAYS; way++)
        seqb_close(sides[way].broker);
}

/* --- the engine alone --- */

/* Of this thread's calls: brokers' threads compare as ever. */
static _Thread_local bool is_believed;
static _Thread_local int64_t compared;
static _Thread_local int64_t compared_ns;

WRAPPED(bool, sqlite_log_matches, struct sqlite_link *link)
{
    const int64_t start_ns = now_ns();
    bool matches;

    if (is_believed)
        return true;
    matches = __real_sqlite_log_matches(link);
    compared_ns += now_ns() - start_ns;
    compared++;
    return matches;
}

/* A counter of one value a grant. */
struct counter {
    const struct store *store;
    struct seqb_backend *backend;
    char name[32];
    int bits;       /* of its windows; 0: it is a direct counter */
    int64_t window; /* that it counts in; 0: none yet */
    char path[112];
    bool is_believed; /* a file: it is not compared with its log */
};

/* A file is the `file`-th one, which is this counter's alone. */
static void counter_open(struct counter *counter, const struct store *store,
                         enum way way, int file)
{
    const int bits = window_bits[way];
    struct seqb_backend_options options = store->options;
    struct seqb_error err;

    *counter = (struct counter){.store = store, .bits = bits};
    (void)text_format(counter->name, sizeof counter->name, "%sgrants/0/w%d",
                      bits > 0 ? SEQB_CELL : "", bits);
    (void)text_format(counter->path, sizeof counter->path, "%s/%d.db",
                      store->folder, file);
    options.path = counter->path;
    options.port = store->port;
    options.needs_incarnation = bits > 0;
    if (store->ops->open(&options, &counter->backend, &err) != SEQB_OK)
        fail_msg("%s", err.text);
}

static void counter_close(struct counter *counter)
{
    counter->store->ops->close(counter->backend);
}

static void counter_renew(struct counter *counter)
{
    const struct seqb_window window = {.counter = counter->name,
                                       .window = ++counter->window,
                                       .size = INT64_C(1) << counter->bits};
    struct seqb_error err;
    int64_t standing;

    if (counter->store->ops->install(counter->backend, &window, &standing,
                                     &err) != SEQB_OK)
        fail_msg("%s", err.text);
}

static enum seqb_status counter_ask(struct counter *counter)
{
    struct seqb_request request = {
        .counter = counter->name,
        .want = 1,
        .limit = counter->bits > 0 ? INT64_C(1) << counter->bits : LIMIT,
        .window = counter->window > 0 ? counter->window : SEQB_NO_WINDOW};
    struct seqb_error err;

    if (counter->store->ops->reserve(counter->backend, &request, 1, &err) !=
        SEQB_OK)
        fail_msg("%s", err.text);
    return request.status;
}

/* As a broker does it: the cell is asked, and says that it needs a window. */
static void counter_next(struct counter *counter)
{
    is_believed = counter->is_believed;
    if (counter_ask(counter) == SEQB_OK)
        return;
    assert_true(counter->bits > 0);
    counter_renew(counter);
    assert_ok(counter_ask(counter));
}

/* Grants a second of each in its own time. They take turns grant by grant, so
 * that a disk that is slow for a while slows all of them. */
static void grants_rates(struct counter *counters, int n, double seconds,
                         double *rates)
{
    const double start = now_s();
    double spent[WAYS] = {0};
    int64_t rounds = 0;

    for (; now_s() - start < seconds * n; rounds++) {
        for (int i = 0; i < n; i++) {
            const double before = now_s();

            counter_next(&counters[i]);
            spent[i] += now_s() - before;
        }
    }
    for (int i = 0; i < n; i++)
        rates[i] = (double)rounds / spent[i];
}

static void grants_row(const struct bench *bench, const struct store *store)
{
    struct counter counters[WAYS];

    for (int way = 0; way < WAYS; way++)
        counter_open(&counters[way], store, (enum way)way, way);
    row_begin(bench, store);
    for (int run = 0; run < bench->runs; run++) {
        double rates[WAYS];

        grants_rates(counters, WAYS, bench->seconds, rates);
        sample(bench, rates);
    }
    report_row_end(bench->report);
    for (int way = 0; way < WAYS; way++)
        counter_close(&counters[way]);
}

/* --- the file and its log --- */

/* Two files, of which one is not compared. */
static void bench_compare(const struct bench *bench, const struct store *store)
{
    struct counter counters[2];
    double rates[2];

    for (int i = 0; i < 2; i++)
        counter_open(&counters[i], store, DIRECT, WAYS + i);
    counters[0].is_believed = true;
    report_table(bench->report, &compare_table);
    report_row(bench->report);
    for (int run = 0; run < bench->runs; run++) {
        compared_ns = 0;
        compared = 0;
        grants_rates(counters, 2, bench->seconds, rates);
        report_sample(bench->report, C_ALONE, rates[0]);
        report_sample(bench->report, C_GRANTS, rates[1]);
        report_sample(bench->report, C_RATIO, rates[1] / rates[0]);
        report_sample(bench->report, C_COST,
                      (double)compared_ns / 1000 / (double)compared);
    }
    report_row_end(bench->report);
    for (int i = 0; i < 2; i++)
        counter_close(&counters[i]);
}

int main(int argc, char **argv)
{
    static struct store stores[STORES_MAX];
    struct report_arguments arguments = {.span = 0.3, .runs = 5};
    char folder[] = "/tmp/seqb-XXXXXX";
    struct bench bench;
    size_t count;

    bench.report = report_open(argc, argv, &arguments);
    bench.seconds = arguments.span;
    bench.runs = arguments.runs;
    block_sigpipe();
    assert_non_null(mkdtemp(folder));
    count = stores_start(stores, folder);
    report_table(bench.report, &numbers_table);
    for (size_t i = 0; i < count; i++) {
        if (stores[i].ops != &backend_memcached)
            numbers_row(&bench, &stores[i]);
    }
    report_table(bench.report, &grants_table);
    for (size_t i = 0; i < count; i++) {
        if (stores[i].ops->guarantee == SEQB_DIRECT)
            grants_row(&bench, &stores[i]);
    }
    bench_compare(&bench, &stores[0]);
    folder_remove(folder);
    return report_close(bench.report);
}
