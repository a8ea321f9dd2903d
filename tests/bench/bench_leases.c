/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many leases neighbours give while a million numbers a second are taken
 * from four of them, by one broker or by two that share the partitions. Counted
 * where the engine answers, which is SQLite but for that. The files are in
 * memory: a disk would bound the rate, not the leases.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seqbroker/seqbroker.h>

#include "backends/backends.h"
#include "bench/load.h"
#include "bench/now.h"
#include "bench/report.h"
#include "platform/text.h"
#include "support/folder.h"
#include "support/servers.h"
#include "support/test.h"

#define RATE        1000000 /* numbers a second, of all brokers */
#define PARTITIONS  4
#define BROKERS_MAX 2
#define LEASES_MOST 1
#define SMALL       8  /* window bits; as by default of four neighbours */
#define LARGE       16 /* a window is some seconds of each broker */

enum { BROKERS, BITS, NUMBERS, FIRST, LEASES, WINDOWS, CALLS };

static const struct report_column columns[] = {
    [BROKERS] = {"brokers", NULL, BAR_NONE, PLOT_NOT},
    [BITS] = {"window bits", NULL, BAR_NONE, PLOT_NOT},
    [NUMBERS] = {"numbers", "million/s", BAR_NONE, PLOT_NOT},
    [FIRST] = {"leases of a partition, at first", "1/s", BAR_NONE, PLOT_NOT},
    [LEASES] = {"then", "1/s", BAR_AT_MOST, PLOT_NOT},
    [WINDOWS] = {"windows of a partition", "1/s", BAR_NONE, PLOT_NOT},
    [CALLS] = {"calls of a store", "1/s", BAR_NONE, PLOT_NOT},
};

static const struct report_table leases_table = {
    "leases", "Leases of neighbours", NULL, SHAPE_BARS, columns, 7};

/* --- the engine that counts --- */

/* Of all stores and brokers. Relaxed: they guard nothing. */
static struct {
    _Atomic int64_t leases;
    _Atomic int64_t windows;
    _Atomic int64_t calls;
} counts;

static void count(_Atomic int64_t *what)
{
    atomic_fetch_add_explicit(what, 1, memory_order_relaxed);
}

static struct seqb_backend_ops counted;

static enum seqb_status counted_open(const struct seqb_backend_options *options,
                                     struct seqb_backend **out,
                                     struct seqb_error *err)
{
    const enum seqb_status status = backend_sqlite.open(options, out, err);

    if (status == SEQB_OK)
        (*out)->ops = &counted;
    return status;
}

static enum seqb_status counted_reserve(struct seqb_backend *backend,
                                        struct seqb_request *requests, size_t n,
                                        struct seqb_error *err)
{
    const enum seqb_status status =
        backend_sqlite.reserve(backend, requests, n, err);

    count(&counts.calls);
    for (size_t i = 0; i < n && status == SEQB_OK; i++) {
        if (requests[i].status == SEQB_OK &&
            strncmp(requests[i].counter, "window/", 7) == 0)
            count(&counts.leases);
    }
    return status;
}

static enum seqb_status counted_raise(struct seqb_backend *backend,
                                      const struct seqb_raise *raise,
                                      int64_t *out, struct seqb_error *err)
{
    count(&counts.calls);
    return backend_sqlite.raise(backend, raise, out, err);
}

static enum seqb_status counted_install(struct seqb_backend *backend,
                                        const struct seqb_window *window,
                                        int64_t *standing,
                                        struct seqb_error *err)
{
    const enum seqb_status status =
        backend_sqlite.install(backend, window, standing, err);

    count(&counts.calls);
    if (status == SEQB_OK)
        count(&counts.windows);
    return status;
}

static void counted_make(void)
{
    counted = backend_sqlite;
    counted.engine = "counted";
    counted.open = counted_open;
    counted.reserve = counted_reserve;
    counted.raise = counted_raise;
    counted.install = counted_install;
}

/* --- brokers that take --- */

struct user {
    struct seqb_broker *broker;
    struct seqb_sequence *sequence;
    struct load load;
};

/* Each has a state directory of its own, as on machines of their own. */
static void user_open(struct user *user, const char *folder, int i)
{
    const struct seqb_backend_ops *const engines[] = {&counted, NULL};
    struct seqb_error err;
    char path[128];

    (void)text_format(path, sizeof path, "%s/state-%d", folder, i);
    assert_int_equal(setenv("SEQBROKER_STATE_DIR", path, 1), 0);
    (void)text_format(path, sizeof path, "%s/c.conf", folder);
    if (seqb_open_with(path, engines, &user->broker, &err) != SEQB_OK ||
        seqb_get_sequence(user->broker, "order", &user->sequence, &err) !=
            SEQB_OK)
        fail_msg("%s", err.text);
}

static void users_start(struct user *users, int n)
{
    for (int i = 0; i < n; i++)
        load_start(&users[i].load, users[i].sequence, RATE / n);
}

/* How many numbers were given. */
static double users_stop(struct user *users, int n)
{
    int64_t given = 0;

    for (int i = 0; i < n; i++) {
        load_stop(&users[i].load);
        given += users[i].load.latency.count - users[i].load.errors;
    }
    return (double)given;
}

static int64_t taken(const _Atomic int64_t *what)
{
    return atomic_load_explicit(what, memory_order_relaxed);
}

/* A second of what came since `before`. */
static double rate_of(const _Atomic int64_t *what, int64_t before, double since)
{
    return (double)(taken(what) - before) / (now_s() - since);
}

/* A span in which the runs grow to what half a minute needs; then the one that
 * counts. */
static void run(struct report *report, struct user *users, int n, double span)
{
    double start = now_s();
    int64_t leases = taken(&counts.leases);
    int64_t windows;
    int64_t calls;

    users_start(users, n);
    pause_s(span / 4);
    report_sample(report, FIRST,
                  rate_of(&counts.leases, leases, start) / PARTITIONS);
    (void)users_stop(users, n);
    start = now_s();
    leases = taken(&counts.leases);
    windows = taken(&counts.windows);
    calls = taken(&counts.calls);
    users_start(users, n);
    pause_s(span);
    report_sample(report, LEASES,
                  rate_of(&counts.leases, leases, start) / PARTITIONS);
    report_sample(report, WINDOWS,
                  rate_of(&counts.windows, windows, start) / PARTITIONS);
    report_sample(report, CALLS,
                  rate_of(&counts.calls, calls, start) / PARTITIONS);
    report_sample(report, NUMBERS,
                  users_stop(users, n) / 1e6 / (now_s() - start));
}

/* Absolute paths, since others are in the state directory of each broker. */
static void topology_write(const char *folder, int bits)
{
    char path[128];
    FILE *file;

    (void)text_format(path, sizeof path, "%s/c.conf", folder);
    file = fopen(path, "we");
    assert_non_null(file);
    fprintf(file, "backends = (\n");
    for (int i = 0; i < PARTITIONS; i++)
        fprintf(file,
                "%s  { name = \"s%d\"; engine = \"counted\"; path = "
                "\"%s/%d.db\"; }",
                i == 0 ? "" : ",\n", i, folder, i);
    fprintf(file,
            " );\n"
            "pools = ( { name = \"main\"; authority = \"neighbours\";\n"
            "  partitions = [ \"s0\", \"s1\", \"s2\", \"s3\" ];\n"
            "  window_bits = %d; } );\n"
            "sequences = ( { key = \"order\"; memory_bits = 3;\n"
            "  deadline = \"10s\"; } );\n",
            bits);
    assert_int_equal(fclose(file), 0);
}

static void brokers_row(struct report *report, int n, int bits, double span)
{
    char folder[] = "/dev/shm/seqb-XXXXXX";
    struct user *users = calloc(BROKERS_MAX, sizeof *users);

    assert_non_null(users);
    assert_non_null(mkdtemp(folder));
    topology_write(folder, bits);
    for (int i = 0; i < n; i++)
        user_open(&users[i], folder, i);
    report_row(report);
    report_text(report, BROKERS, "%d", n);
    report_text(report, BITS, "%d", bits);
    if (n == 1)
        report_bar(report, LEASES, LEASES_MOST);
    run(report, users, n, span);
    report_row_end(report);
    for (int i = 0; i < n; i++)
        seqb_close(users[i].broker);
    free(users);
    folder_remove(folder);
}

int main(int argc, char **argv)
{
    struct report_arguments arguments = {
        .span = 10, .runs = 1, .unit = "SECONDS"};
    struct report *report = report_open(argc, argv, &arguments);

    block_sigpipe();
    counted_make();
    report_table(report, &leases_table);
    brokers_row(report, 1, SMALL, arguments.span);
    brokers_row(report, 2, SMALL, arguments.span);
    brokers_row(report, 2, LARGE, arguments.span);
    return report_close(report);
}
