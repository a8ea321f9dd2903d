/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What taking a number costs: seqb_next through the shared library, and a
 * cursor a thread, beside a bare atomic fetch_add on one counter with as many
 * threads, in turn in one run. The numbers come from four durable SQLite
 * partitions while they are taken. For scale: a counter under a mutex, a
 * fetch_add behind a shared library's call, and what bounds the two ways of
 * taking: such a call that does nothing, and a counter of the thread's own.
 */
#include <stdio.h>

#include "bench/report.h"
#include "bench/takers.h"
#include "bench/topology.h"

#define KINDS 3

enum { BITS, THREADS, LIMIT, NEXT, NS, RATIO, CURSOR, CURSOR_RATIO };

static const struct report_column columns[] = {
    [BITS] = {"memory bits", NULL, BAR_NONE, PLOT_NOT},
    [THREADS] = {"threads", NULL, BAR_NONE, PLOT_NOT},
    [LIMIT] = {"fetch_add", "million/s", BAR_NONE, PLOT_LOG},
    [NEXT] = {"seqb_next", "million/s", BAR_NONE, PLOT_LOG},
    [NS] = {"a take and thread", "ns", BAR_NONE, PLOT_NOT},
    [RATIO] = {"seqb_next / fetch_add", "", BAR_AT_LEAST, PLOT_LINEAR},
    [CURSOR] = {"cursor", "million/s", BAR_NONE, PLOT_LOG},
    [CURSOR_RATIO] = {"cursor / fetch_add", "", BAR_AT_LEAST, PLOT_LINEAR},
};

static const struct report_table taking = {
    "next", "Taking one number", NULL, SHAPE_BARS, columns, 8};

enum { S_THREADS, S_LIMIT, S_OUTSIDE, S_NOTHING, S_OWN, S_MUTEX };

static const struct report_column scale_columns[] = {
    [S_THREADS] = {"threads", NULL, BAR_NONE, PLOT_NOT},
    [S_LIMIT] = {"fetch_add", "million/s", BAR_NONE, PLOT_LINEAR},
    [S_OUTSIDE] = {"fetch_add behind a library's call", "million/s", BAR_NONE,
                   PLOT_LINEAR},
    [S_NOTHING] = {"a library's call alone", "million/s", BAR_NONE,
                   PLOT_LINEAR},
    [S_OWN] = {"counter in a thread's own memory", "million/s", BAR_NONE,
               PLOT_LINEAR},
    [S_MUTEX] = {"counter under a mutex", "million/s", BAR_NONE, PLOT_LINEAR},
};

static const struct report_table scale = {
    "scale",       "For scale: counters that are no broker",
    NULL,          SHAPE_BARS,
    scale_columns, 6};

static const int crowds[] = {1, 2, 4};

/* Bars stand where a run is 2^10 numbers, and for no more
 * threads than this has cores. */
static void bars_set(struct report *report, int bits, int threads)
{
    if (bits != 10 || threads > 2)
        return;
    report_bar(report, RATIO, threads == 1 ? 1.5 : 4);
    report_bar(report, CURSOR_RATIO, threads == 1 ? 4 : 8);
}

static void bench_row(struct report *report,
                      const struct report_arguments *arguments,
                      struct seqb_sequence *sequence, int bits, int threads)
{
    report_row(report);
    report_text(report, BITS, "%d", bits);
    report_text(report, THREADS, "%d", threads);
    for (int i = 0; i < arguments->runs; i++) {
        const double limit =
            takers_rate(NULL, TAKE_FETCH_ADD, threads, arguments->span);
        const double next =
            takers_rate(sequence, TAKE_NEXT, threads, arguments->span);
        const double cursor =
            takers_rate(sequence, TAKE_CURSOR, threads, arguments->span);

        report_sample(report, LIMIT, limit);
        report_sample(report, NEXT, next);
        report_sample(report, NS, 1e3 * threads / next);
        report_sample(report, RATIO, next / limit);
        report_sample(report, CURSOR, cursor);
        report_sample(report, CURSOR_RATIO, cursor / limit);
    }
    bars_set(report, bits, threads);
    report_row_end(report);
}

static void bench_bits(struct report *report,
                       const struct report_arguments *arguments, int bits)
{
    struct topology topology;
    struct seqb_broker *broker;
    struct seqb_sequence *sequence;
    char rest[160];

    (void)snprintf(rest, sizeof rest,
                   "sequences = ( { key = \"order\"; memory_bits = %d; "
                   "deadline = \"10s\"; max_unused = 1000000000; } );",
                   bits);
    topology_sqlite(&topology, 4, rest);
    broker = topology_open(&topology);
    sequence = sequence_of(broker, "order");
    /* Not counted: the ring grows with the demand. */
    (void)takers_rate(sequence, TAKE_NEXT, 1, arguments->span);
    for (size_t i = 0; i < sizeof crowds / sizeof crowds[0]; i++)
        bench_row(report, arguments, sequence, bits, crowds[i]);
    seqb_close(broker);
    topology_remove(&topology);
}

static void scale_row(struct report *report,
                      const struct report_arguments *arguments, int threads)
{
    static const enum taking ways[] = {[S_LIMIT] = TAKE_FETCH_ADD,
                                       [S_OUTSIDE] = TAKE_OUTSIDE,
                                       [S_NOTHING] = TAKE_NOTHING,
                                       [S_OWN] = TAKE_OWN,
                                       [S_MUTEX] = TAKE_MUTEX};

    report_row(report);
    report_text(report, S_THREADS, "%d", threads);
    for (int i = 0; i < arguments->runs; i++) {
        for (size_t way = S_LIMIT; way <= S_MUTEX; way++)
            report_sample(
                report, way,
                takers_rate(NULL, ways[way], threads, arguments->span));
    }
    report_row_end(report);
}

int main(int argc, char **argv)
{
    static const int bits[KINDS] = {10, 3, 0};
    struct report_arguments arguments = {.span = 0.4, .runs = 5};
    struct report *report = report_open(argc, argv, &arguments);

    report_table(report, &taking);
    for (int i = 0; i < KINDS; i++)
        bench_bits(report, &arguments, bits[i]);
    report_table(report, &scale);
    for (size_t i = 0; i < sizeof crowds / sizeof crowds[0]; i++)
        scale_row(report, &arguments, crowds[i]);
    return report_close(report);
}
