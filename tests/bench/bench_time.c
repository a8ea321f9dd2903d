/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What time costs: an id made of time, shard and counter, and a snowflake's,
 * each beside a plain number of a ring of the same memory bits, in turn in one
 * run; how fast a sequence goes that begins afresh each second, and the longest
 * call at its turns; and when the default layouts end.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <seqbroker/admin.h>

#include "bench/bursts.h"
#include "bench/report.h"
#include "bench/takers.h"
#include "bench/topology.h"
#include "bench/turns.h"

#define IDS                                                                    \
    "ids = { epoch = \"2020-01-01\"; time = 32; unit = \"s\"; shard = 12; "    \
    "counter = 19; }; when_full = \"wait\"; "

/* Plain numbers beside those that are made of time. */
static const char ids_text[] =
    "sequences = (\n"
    "  { key = \"plain\"; memory_bits = 3; deadline = \"10s\"; },\n"
    "  { key = \"id\"; memory_bits = 3; deadline = \"10s\"; " IDS "},\n"
    "  { key = \"second\"; memory_bits = 10; deadline = \"10s\"; "
    "period = \"second\"; max_unused = 16000000; } );";

/* New pools of two direct stores each: none has to wait for old leases. */
static const char flake_text[] =
    "broker = { name = \"bench\"; };\n"
    "backends = (\n"
    "  { name = \"s0\"; engine = \"sqlite\"; path = \"0.db\"; },\n"
    "  { name = \"s1\"; engine = \"sqlite\"; path = \"1.db\"; },\n"
    "  { name = \"s2\"; engine = \"sqlite\"; path = \"2.db\"; },\n"
    "  { name = \"s3\"; engine = \"sqlite\"; path = \"3.db\"; } );\n"
    "pools = (\n"
    "  { name = \"main\"; partitions = [ \"s0\", \"s1\" ]; },\n"
    "  { name = \"wide\"; partitions = [ \"s2\", \"s3\" ]; } );\n"
    "sequences = (\n"
    "  { key = \"plain\"; pool = \"main\"; memory_bits = 0; "
    "deadline = \"10s\"; },\n"
    "  { key = \"id\"; pool = \"main\"; deadline = \"10s\"; "
    "snowflake = { counter_bits = 12; }; },\n"
    "  { key = \"wide\"; pool = \"wide\"; deadline = \"10s\"; "
    "snowflake = { worker_bits = 1; counter_bits = 22; }; } );\n";

/* --- what an id costs --- */

enum { WHAT, THREADS, PLAIN, ID, RATIO };

static const struct report_column id_columns[] = {
    [WHAT] = {"id", NULL, BAR_NONE, PLOT_NOT},
    [THREADS] = {"threads", NULL, BAR_NONE, PLOT_NOT},
    [PLAIN] = {"a number", "ns", BAR_NONE, PLOT_LINEAR},
    [ID] = {"an id", "ns", BAR_AT_MOST, PLOT_LINEAR},
    [RATIO] = {"number / id", "", BAR_AT_LEAST, PLOT_NOT},
};

static const struct report_table ids = {
    "ids",      "Ids made of time", "ns of a take that finds some at hand",
    SHAPE_BARS, id_columns,         5};

/* A kind of id, and plain numbers beside it. */
struct kind {
    const char *name;
    bool has_shard;
    struct topology topology;
    struct seqb_broker *broker;
    struct seqb_sequence *plain;
    struct seqb_sequence *id;
};

static void kind_open(struct kind *kind)
{
    kind->broker = topology_open(&kind->topology);
    kind->plain = sequence_of(kind->broker, "plain");
    kind->id = sequence_of(kind->broker, "id");
}

static void kind_close(struct kind *kind)
{
    seqb_close(kind->broker);
    topology_remove(&kind->topology);
}

static void bench_id(struct report *report,
                     const struct report_arguments *arguments,
                     const struct kind *kind, int threads)
{
    report_row(report);
    report_text(report, WHAT, "%s", kind->name);
    report_text(report, THREADS, "%d", threads);
    /* Not counted: the rings grow with the demand. */
    (void)bursts_ns(kind->plain, false, threads, arguments->span);
    (void)bursts_ns(kind->id, kind->has_shard, threads, arguments->span);
    for (int i = 0; i < arguments->runs; i++) {
        const double plain =
            bursts_ns(kind->plain, false, threads, arguments->span);
        const double id =
            bursts_ns(kind->id, kind->has_shard, threads, arguments->span);

        report_sample(report, PLAIN, plain);
        report_sample(report, ID, id);
        report_sample(report, RATIO, plain / id);
    }
    if (!kind->has_shard)
        report_bar(report, RATIO, 0.5);
    else if (threads == 1)
        report_bar(report, ID, 25);
    report_row_end(report);
}

/* --- at full load --- */

enum { F_WHAT, F_RATE, F_CAP, F_SHARE };

static const struct report_column full_columns[] = {
    [F_WHAT] = {"at full load", NULL, BAR_NONE, PLOT_NOT},
    [F_RATE] = {"one thread", "million/s", BAR_NONE, PLOT_LOG},
    [F_CAP] = {"the layout's cap", "million/s", BAR_NONE, PLOT_LOG},
    [F_SHARE] = {"of it", "", BAR_AT_LEAST, PLOT_NOT},
};

static const struct report_table full = {
    "full", "Ids up to their layout's cap", NULL, SHAPE_BARS, full_columns, 4};

static void full_sample(struct report *report, double rate, double cap)
{
    report_sample(report, F_RATE, rate);
    report_sample(report, F_CAP, cap);
    report_sample(report, F_SHARE, rate / cap);
}

/* Of a second's ids the first thousands are taken at once, and the rest of it
 * is waited for: counted are those of whole seconds. */
static void full_ids(struct report *report,
                     const struct report_arguments *arguments,
                     const struct kind *kind)
{
    report_row(report);
    report_text(report, F_WHAT, "%s", kind->name);
    for (int i = 0; i < arguments->runs; i++) {
        struct turns turns;

        turns_run(kind->id, &turns);
        for (int j = 0; j < TURNS; j++)
            full_sample(report, (double)turns.turn[j].numbers / 1e6, 0.524288);
    }
    report_row_end(report);
}

static void full_flake(struct report *report,
                       const struct report_arguments *arguments,
                       const struct kind *kind)
{
    const double seconds = 4 * arguments->span;

    report_row(report);
    report_text(report, F_WHAT, "%s", kind->name);
    /* Not counted: what was at hand. */
    (void)takers_rate(kind->id, TAKE_NEXT, 1, arguments->span);
    for (int i = 0; i < arguments->runs; i++)
        full_sample(report, takers_rate(kind->id, TAKE_NEXT, 1, seconds),
                    4.096);
    report_row_end(report);
}

/* --- snowflakes when they are taken --- */

enum { M_WHAT, M_AGE, M_RATE };

static const struct report_column made_columns[] = {
    [M_WHAT] = {"taken", NULL, BAR_NONE, PLOT_NOT},
    [M_AGE] = {"age of its time, p99.9", "ms", BAR_AT_MOST, PLOT_NOT},
    [M_RATE] = {"one thread", "million/s", BAR_AT_LEAST, PLOT_NOT},
};

static const struct report_table made = {
    "made",
    "Snowflakes are made when they are taken",
    "the wall clock's ms after a take, less the id's",
    SHAPE_BARS,
    made_columns,
    3};

#define AGES 10000

static int compare_ages(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a;
    const int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static int64_t age_take(struct seqb_sequence *sequence)
{
    struct seqb_decoded decoded;
    struct seqb_error err;
    struct timespec now;
    int64_t id;

    if (seqb_next(sequence, &id, &err) != SEQB_OK) {
        fprintf(stderr, "bench_time: %s\n", err.text);
        exit(EXIT_FAILURE);
    }
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (seqb_decode(sequence, id, &decoded, &err) != SEQB_OK)
        exit(EXIT_FAILURE);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 - decoded.time_ms;
}

/* ms, of takes with a rest between them; 0: as fast as they go. */
static double age_ms(struct seqb_sequence *sequence, int64_t rest_us)
{
    static int64_t ages[AGES];
    const size_t count = rest_us == 0 ? AGES : AGES / 10;
    const struct timespec rest = {.tv_nsec = rest_us * 1000};
    size_t at;

    for (size_t i = 0; i < count; i++) {
        ages[i] = age_take(sequence);
        if (rest_us > 0)
            (void)nanosleep(&rest, NULL);
    }
    qsort(ages, count, sizeof ages[0], compare_ages);
    at = count * 999 / 1000;
    return (double)ages[at];
}

static void made_row(struct report *report,
                     const struct report_arguments *arguments,
                     struct seqb_sequence *sequence, const char *name,
                     int64_t rest_us)
{
    report_row(report);
    report_text(report, M_WHAT, "%s", name);
    for (int i = 0; i < arguments->runs; i++)
        report_sample(report, M_AGE, age_ms(sequence, rest_us));
    report_bar(report, M_AGE, 1);
    for (int i = 0; rest_us == 0 && i < arguments->runs; i++)
        report_sample(report, M_RATE,
                      takers_rate(sequence, TAKE_NEXT, 1, arguments->span));
    if (rest_us > 0)
        report_text(report, M_RATE, "%s", "");
}

static void bench_made(struct report *report,
                       const struct report_arguments *arguments,
                       struct seqb_broker *broker)
{
    report_table(report, &made);
    made_row(report, arguments, sequence_of(broker, "id"),
             "12 counter bits, one after another", 0);
    report_row_end(report);
    made_row(report, arguments, sequence_of(broker, "id"),
             "12 counter bits, one each 2 ms", 2000);
    report_row_end(report);
    made_row(report, arguments, sequence_of(broker, "wide"),
             "22 counter bits, one after another", 0);
    report_bar(report, M_RATE, 40);
    report_row_end(report);
}

/* --- the turns of a second --- */

enum { T_TURN, T_RATE, T_NEAR, T_BETWEEN, T_MORE };

static const struct report_column turn_columns[] = {
    [T_TURN] = {"turn", NULL, BAR_NONE, PLOT_NOT},
    [T_RATE] = {"in the second after it", "million", BAR_NONE, PLOT_NOT},
    [T_NEAR] = {"longest call near it", "us", BAR_NONE, PLOT_LOG},
    [T_BETWEEN] = {"longest call between", "us", BAR_NONE, PLOT_LOG},
    [T_MORE] = {"longer by", "us", BAR_AT_MOST, PLOT_NOT},
};

static const struct report_table turning = {
    "turns",      "Numbers that begin afresh each second",
    NULL,         SHAPE_BARS,
    turn_columns, 5};

static void turns_sample(struct report *report, const struct turns *turns)
{
    for (size_t i = 0; i < TURNS; i++) {
        const double near_us = (double)turns->turn[i].worst_ns / 1000;
        const double between_us = (double)turns->between_ns / 1000;

        report_select(report, i);
        report_sample(report, T_RATE, (double)turns->turn[i].numbers / 1e6);
        report_sample(report, T_NEAR, near_us);
        report_sample(report, T_BETWEEN, between_us);
        report_sample(report, T_MORE,
                      near_us > between_us ? near_us - between_us : 0);
    }
}

static void bench_turns(struct report *report,
                        const struct report_arguments *arguments,
                        struct seqb_sequence *sequence)
{
    struct turns turns;

    report_table(report, &turning);
    for (int i = 0; i < TURNS; i++) {
        report_row(report);
        report_text(report, T_TURN, "%d", i + 1);
        report_bar(report, T_MORE, 1000);
    }
    turns_run(sequence, &turns); /* not counted: the ring grows */
    for (int i = 0; i < arguments->runs; i++) {
        turns_run(sequence, &turns);
        turns_sample(report, &turns);
    }
    report_rows_end(report, TURNS);
}

/* --- the ends --- */

enum { E_WHAT, E_LAST, E_YEARS };

static const struct report_column end_columns[] = {
    [E_WHAT] = {"layout", NULL, BAR_NONE, PLOT_NOT},
    [E_LAST] = {"the last id's time (UTC)", NULL, BAR_NONE, PLOT_NOT},
    [E_YEARS] = {"runs out in, by the forecast", NULL, BAR_NONE, PLOT_NOT},
};

static const struct report_table ends = {
    "ends", "When the default layouts end", NULL, SHAPE_BARS, end_columns, 3};

/* Of the highest number that there is, as the sequence takes it apart. */
static void end_last(struct report *report, struct seqb_sequence *sequence)
{
    struct seqb_decoded decoded;
    struct seqb_error err;
    char text[32];
    struct tm utc;
    time_t s;

    if (seqb_decode(sequence, INT64_MAX, &decoded, &err) != SEQB_OK) {
        fprintf(stderr, "bench_time: %s\n", err.text);
        exit(EXIT_FAILURE);
    }
    s = (time_t)(decoded.time_ms / 1000);
    if (decoded.time_ms < 0 || gmtime_r(&s, &utc) == NULL ||
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &utc) == 0)
        report_text(report, E_LAST, "has none");
    else
        report_text(report, E_LAST, "%s", text);
}

static int64_t runs_out_ms(struct seqb_broker *broker, const char *key)
{
    struct seqb_sequence_status all[8];
    struct seqb_error err;
    size_t count;

    if (seqb_sequences(broker, all, sizeof all[0], 8, &count, &err) !=
        SEQB_OK) {
        fprintf(stderr, "bench_time: %s\n", err.text);
        exit(EXIT_FAILURE);
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(all[i].key, key) == 0)
            return all[i].runs_out_ms;
    }
    return INT64_MAX;
}

static void bench_end(struct report *report, struct seqb_broker *broker,
                      const char *key, const char *name)
{
    const int64_t ms = runs_out_ms(broker, key);

    report_row(report);
    report_text(report, E_WHAT, "%s", name);
    end_last(report, sequence_of(broker, key));
    if (ms == INT64_MAX)
        report_text(report, E_YEARS, "more than 1,000 years");
    else
        report_text(report, E_YEARS, "%.1f years",
                    (double)ms / 1000 / 86400 / 365.2425);
    report_row_end(report);
}

int main(int argc, char **argv)
{
    struct kind timed = {.name = "time id, 32 s + 12 + 19", .has_shard = true};
    struct kind flake = {.name = "snowflake, 41 ms + 10 + 12"};
    struct report_arguments arguments = {.span = 0.5, .runs = 5};
    struct report *report = report_open(argc, argv, &arguments);

    topology_sqlite(&timed.topology, 4, ids_text);
    topology_write(&flake.topology, flake_text);
    kind_open(&timed);
    kind_open(&flake);
    report_table(report, &ids);
    for (int threads = 1; threads <= 2; threads++) {
        bench_id(report, &arguments, &timed, threads);
        bench_id(report, &arguments, &flake, threads);
    }
    report_table(report, &full);
    full_ids(report, &arguments, &timed);
    full_flake(report, &arguments, &flake);
    bench_made(report, &arguments, flake.broker);
    bench_turns(report, &arguments, sequence_of(timed.broker, "second"));
    report_table(report, &ends);
    bench_end(report, timed.broker, "plain", "numbers of four partitions");
    bench_end(report, timed.broker, "id", timed.name);
    bench_end(report, flake.broker, "id", flake.name);
    kind_close(&timed);
    kind_close(&flake);
    return report_close(report);
}
