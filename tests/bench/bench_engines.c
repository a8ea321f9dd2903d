/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each engine gives alone, on a real server with durable settings: the
 * numbers that one thread takes through the library from a pool of one
 * partition, beside the same store asked directly for one number at a time over
 * one connection, in turn in one run; grants of one value each; and the round
 * trips of one call for 1, 10 and 100 hungry counters, counted by a relay.
 *
 *   bench_engines [SECONDS_A_RUN [RUNS]]
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <seqbroker/seqbroker.h>

#include "backends/backends.h"
#include "bench/direct.h"
#include "bench/relay.h"
#include "bench/stores.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "support/folder.h"

#define RUNS_MAX       21
#define AT_ONCE        1000 /* numbers in one call */
#define LIMIT          ((int64_t)1 << 40)
#define GRANTS_COUNTER "grants/0/order"
#define WINDOW_BITS    20
#define HUNGRY_MAX     100

static double seconds = 1.0;
static int runs = 5;

static double now_s(void)
{
    return (double)clock_now_us() / 1e6;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, (size_t)runs, sizeof *values, compare);
    return values[runs / 2];
}

/* --- through the library --- */

static double broker_rate(struct seqb_sequence *sequence)
{
    static int64_t numbers[AT_ONCE];
    const double start = now_s();
    struct seqb_error err;
    int64_t taken = 0;

    while (now_s() - start < seconds) {
        if (seqb_next_many(sequence, AT_ONCE, numbers, &err) != SEQB_OK)
            fail_msg("%s", err.text);
        taken += AT_ONCE;
    }
    return (double)taken / (now_s() - start);
}

static double direct_rate(const struct direct_kind *kind, struct direct *direct)
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

static void bench_numbers(struct store *store, int memory_bits)
{
    struct seqb_broker *broker = open_broker(store, memory_bits);
    struct direct *direct =
        store->direct->open(store->direct_path, store->port);
    struct seqb_sequence *sequence = NULL;
    double ours[RUNS_MAX];
    double theirs[RUNS_MAX];
    double ratios[RUNS_MAX];
    double ratio;

    assert_non_null(direct);
    assert_int_equal(seqb_sequence(broker, "order", &sequence, NULL), SEQB_OK);
    (void)broker_rate(sequence); /* not counted: the ring grows */
    for (int i = 0; i < runs; i++) {
        ours[i] = broker_rate(sequence);
        theirs[i] = direct_rate(store->direct, direct);
        ratios[i] = ours[i] / theirs[i];
    }
    ratio = median(ratios); /* sorts them */
    print_message("| %s | %d | %.0f | %s | %.0f | %.0f | %.0f ... %.0f |\n",
                  store->ops->engine, memory_bits, median(ours),
                  store->direct->what, median(theirs), ratio, ratios[0],
                  ratios[runs - 1]);
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
    const struct seqb_window window = {counter, 1, (int64_t)1 << WINDOW_BITS};
    int64_t standing;

    if (store->ops->guarantee == SEQB_WINDOWED)
        assert_int_equal(store->ops->install(backend, &window, &standing, NULL),
                         SEQB_OK);
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

static void bench_grants(const struct store *store)
{
    struct seqb_backend *backend = open_backend(store, store->port);
    double rates[RUNS_MAX];

    counter_prepare(store, backend, GRANTS_COUNTER);
    for (int i = 0; i < runs; i++) {
        const double start = now_s();
        int64_t grants = 0;

        for (; now_s() - start < seconds; grants++)
            grant_one(store, backend);
        rates[i] = (double)grants / (now_s() - start);
    }
    print_message("| %s | %.0f |", store->ops->engine, median(rates));
    store->ops->close(backend);
}

/* The round trips and time of one call for `n` counters that exist. */
static void bench_hungry(const struct store *store, size_t n)
{
    static char names[HUNGRY_MAX][SEQB_COUNTER_SIZE];
    struct seqb_request requests[HUNGRY_MAX];
    struct relay *relay = store->port == 0 ? NULL : relay_new(store->port);
    struct seqb_backend *backend =
        open_backend(store, relay == NULL ? 0 : relay_port(relay));
    double us[RUNS_MAX];
    int64_t before = 0;

    for (size_t i = 0; i < n; i++) {
        (void)text_format(names[i], sizeof names[i], "h%zu/0/k%zu", n, i);
        counter_prepare(store, backend, names[i]);
    }
    for (int run = -1; run < runs; run++) { /* the first one makes them */
        const int64_t start_us = clock_now_us();

        before = relay == NULL ? 0 : relay_trips(relay);
        for (size_t i = 0; i < n; i++)
            requests[i] = request_of(store, names[i]);
        assert_int_equal(store->ops->reserve(backend, requests, n, NULL),
                         SEQB_OK);
        if (run >= 0)
            us[run] = (double)(clock_now_us() - start_us);
    }
    if (relay == NULL)
        print_message(" - (%.0f us) |", median(us));
    else
        print_message(" %" PRId64 " (%.0f us) |", relay_trips(relay) - before,
                      median(us));
    store->ops->close(backend);
    relay_free(relay);
}

/* --- all of them --- */

static void bench_engines(void **state)
{
    static struct store stores[STORES_MAX];
    char folder[] = "/tmp/seqb-XXXXXX";
    size_t count;

    (void)state;
    assert_non_null(mkdtemp(folder));
    count = stores_start(stores, folder);
    print_message("| engine | memory bits | numbers/s | asked directly by | "
                  "numbers/s | ratio | min ... max |\n"
                  "|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < count; i++) {
        bench_numbers(&stores[i], 3);
        bench_numbers(&stores[i], 10);
    }
    print_message("\n| engine | grants/s of one value | round trips for 1 "
                  "counter | 10 | 100 |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < count; i++) {
        bench_grants(&stores[i]);
        bench_hungry(&stores[i], 1);
        bench_hungry(&stores[i], 10);
        bench_hungry(&stores[i], 100);
        print_message("\n");
    }
    folder_remove(folder);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bench_engines)};

    if (argc > 1)
        seconds = strtod(argv[1], NULL);
    if (argc > 2)
        runs = atoi(argv[2]);
    if (runs < 1 || runs > RUNS_MAX)
        return 2;
    return cmocka_run_group_tests_name("bench_engines", tests, NULL, NULL);
}
