/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a caller of seqb_next feels while one, two, three and all of a pool's
 * four stores fail: two Redis servers, a MariaDB and a PostgreSQL, each behind
 * a fault proxy and, for root, a firewall. To divert is the longest call of a
 * second caller, whose numbers are not fetched ahead: it asks the stores in
 * turn, the failing one too, and is served by another. A call may be long
 * because its thread had to wait for a processor: how many found no number
 * ahead is told besides. "Felt" counts what a slow call held up, too. Exits
 * with a failure only if a caller got an error that the pool could have spared
 * it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <seqbroker/seqbroker.h>

#include "bench/fault_tables.h"
#include "bench/load.h"
#include "bench/watch.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "support/folder.h"
#include "support/four_stores.h"
#include "support/servers.h"
#include "support/test.h"

#define TIMEOUT_MS  200 /* as by default */
#define SLOWER_MS   10  /* ten times the slowest store's usual time */
#define BARE_RATE   500 /* calls a second that find no number ahead */
#define WARM_MS     500
#define PATIENCE_MS 30000
#define DOWN_MS     50 /* the deadline of "late" */
#define DOWN_ALL_MS 2000

#define SEQUENCES                                                              \
    "sequences = ( { key = \"order\"; deadline = \"10s\"; },\n"                \
    "  { key = \"bare\"; deadline = \"10s\"; prefetch = false;\n"              \
    "    memory_bits = 0; },\n"                                                \
    "  { key = \"late\"; deadline = \"50ms\"; prefetch = false; } );\n"

static int64_t fault_ms = 1500;
static int64_t away_ms = 10000;
static const int64_t rate = 200000; /* calls a second of who is paced */

static struct four_stores stores;
static char folder[] = "/tmp/seqbroker-bench-XXXXXX";
static char topology[64];
static struct report *report;
static int64_t errors;

/* One broker over the four, and who uses it. */
static struct {
    struct seqb_broker *broker;
    struct watch *watch;
    struct load order; /* from the ring */
    struct load bare;  /* each call waits for a store */
    int64_t waits;     /* calls of "order" that found no number, before */
} stage;

static void pause_ms(int64_t ms)
{
    nanosleep(
        &(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000},
        NULL);
}

/* --- the stage --- */

static void topology_write(void)
{
    char text[QUARTET_TEXT_SIZE];
    FILE *file;

    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("SEQBROKER_STATE_DIR", folder, 1), 0);
    assert_true(text_format(topology, sizeof topology, "%s/c.conf", folder));
    four_stores_topology(&stores, "", text);
    file = fopen(topology, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fputs(SEQUENCES, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static struct seqb_sequence *sequence_of(const char *key)
{
    struct seqb_sequence *sequence = NULL;
    struct seqb_error err;

    if (seqb_get_sequence(stage.broker, key, &sequence, &err) != SEQB_OK)
        fail_msg("%s", err.text);
    return sequence;
}

/* Calls that found the ring empty since the broker was opened. */
static int64_t waits_of(const char *key)
{
    struct seqb_sequence_status all[4];
    size_t count;

    assert_ok(
        seqb_sequences(stage.broker, all, sizeof all[0], 4, &count, NULL));
    for (size_t i = 0; i < count; i++) {
        if (strcmp(all[i].key, key) == 0)
            return all[i].waits;
    }
    return 0;
}

/* A broker of its own for each row, which remembers no fault before. */
static void stage_open(int64_t pace)
{
    struct seqb_error err;

    if (seqb_open(topology, &stage.broker, &err) != SEQB_OK)
        fail_msg("%s", err.text);
    stage.watch = watch_new(stage.broker);
    load_start(&stage.order, sequence_of("order"), pace);
    load_start(&stage.bare, sequence_of("bare"), BARE_RATE);
    pause_ms(WARM_MS);
    load_stop(&stage.order);
    load_stop(&stage.bare);
    stage.waits = waits_of("order");
    load_start(&stage.order, stage.order.sequence, pace);
    load_start(&stage.bare, stage.bare.sequence, BARE_RATE);
    watch_mark(stage.watch);
}

static void stage_stop_loads(void)
{
    const struct load *const loads[] = {&stage.order, &stage.bare};

    load_stop(&stage.order);
    load_stop(&stage.bare);
    for (size_t i = 0; i < 2; i++) {
        errors += loads[i]->errors;
        if (loads[i]->errors > 0)
            print_message("the first error: %s\n", loads[i]->first.text);
    }
}

static void stage_close(void)
{
    watch_free(stage.watch);
    seqb_close(stage.broker);
}

/* --- the cells --- */

static void cell(size_t column, double value, double bar)
{
    report_figure(report, column, value, bar);
}

static double in_us(int64_t ns)
{
    return (double)ns / 1000;
}

static double in_ms(int64_t us)
{
    return us < 0 ? -1 : (double)us / 1000;
}

static double p999_us(const struct latency *latency)
{
    return in_us(latency_at(latency, 0.999));
}

/* p50 ... max and errors of the paced or free caller, and the bare one's
 * worst. `p999_bar` is that of one store gone. */
static void cells_load(double p999_bar, double p9999_bar)
{
    const struct latency *latency = &stage.order.latency;

    cell(RATE, (double)latency->count / ((double)stage.order.took_us + 1),
         NO_BAR);
    cell(P50, in_us(latency_at(latency, 0.5)), NO_BAR);
    cell(P99, in_us(latency_at(latency, 0.99)), NO_BAR);
    cell(P999, p999_us(latency), p999_bar);
    cell(P9999, in_us(latency_at(latency, 0.9999)), p9999_bar);
    cell(MAX, in_us(latency->max_ns), NO_BAR);
    cell(FELT, in_us(latency_at(&stage.order.felt, 0.999)), NO_BAR);
    cell(WAITED, (double)(waits_of("order") - stage.waits), NO_BAR);
    cell(ERRORS, (double)(stage.order.errors + stage.bare.errors), 0);
}

static double healthy_row(int64_t pace)
{
    stage_open(pace);
    pause_ms(fault_ms * 2);
    stage_stop_loads();
    report_row(report);
    report_text(report, STORES, "well");
    report_text(report, GONE, "0");
    cells_load(NO_BAR, NO_BAR);
    cell(DIVERT, in_us(stage.bare.latency.max_ns) / 1000, NO_BAR);
    report_row_end(report);
    stage_close();
    return p999_us(&stage.order.latency);
}

/* --- one, two and three of four --- */

static bool is_hung(enum fault fault)
{
    return fault == FAULT_STOPPED || fault == FAULT_LOST ||
           fault == FAULT_SWALLOWED;
}

static int64_t last_out_us(int gone)
{
    int64_t last = 0;

    for (int i = 0; i < gone; i++) {
        const int64_t us = watch_read(stage.watch, i).out_us;

        if (us < 0)
            return -1;
        last = us > last ? us : last;
    }
    return last;
}

/* How long the first call hung, and what followed it, at the store where that
 * took longest: a call that hangs is one time-out old when its store becomes
 * suspect. */
static int64_t longest_hung_us(int gone)
{
    int64_t longest = -1;

    for (int i = 0; i < gone; i++) {
        const struct watched seen = watch_read(stage.watch, i);
        const int64_t hung_us =
            seen.out_us - seen.suspect_us + TIMEOUT_MS * INT64_C(1000);

        if (seen.out_us < 0 || seen.suspect_us < 0)
            return -1;
        longest = hung_us > longest ? hung_us : longest;
    }
    return longest;
}

static int64_t last_back_us(int gone)
{
    int64_t last = 0;

    for (int i = 0; i < gone; i++) {
        if (!watch_await(stage.watch, i, WATCH_GRANTED, PATIENCE_MS))
            return -1;
        if (watch_read(stage.watch, i).granted_us > last)
            last = watch_read(stage.watch, i).granted_us;
    }
    return last;
}

static void fault_begins(enum fault fault, int gone)
{
    static const int32_t amounts_ms[FAULTS] = {
        [FAULT_DELAYED] = SLOWER_MS, [FAULT_FLAPPING] = 500};

    watch_mark(stage.watch);
    for (int i = 0; i < gone; i++) {
        four_stores_fault(&stores, (size_t)i, fault, amounts_ms[fault]);
        watch_mark_one(stage.watch, i);
    }
}

/* A store that is ten times slower is to stay. */
static void fault_row(enum fault fault, int gone, int64_t pace, double well_us)
{
    const bool stays = fault == FAULT_DELAYED;
    double out_ms;
    double hung_ms;

    stage_open(pace);
    fault_begins(fault, gone);
    pause_ms(fault == FAULT_FLAPPING ? fault_ms * 2 : fault_ms);
    stage_stop_loads();
    out_ms = in_ms(last_out_us(gone));
    hung_ms = in_ms(longest_hung_us(gone));
    report_row(report);
    report_text(report, STORES, "%s", fault_name(fault));
    report_text(report, GONE, "%d", gone);
    cells_load(gone == 1 ? well_us + 20 : NO_BAR, gone == 1 ? 1000 : NO_BAR);
    cell(DIVERT, in_us(stage.bare.latency.max_ns) / 1000,
         is_hung(fault) ? 10 : 5);
    if (stays)
        report_text(report, OUT, "stays");
    else
        cell(OUT, out_ms, is_hung(fault) ? 3 * TIMEOUT_MS : NO_BAR);
    if (is_hung(fault))
        cell(HUNG, hung_ms, NO_BAR);
    load_start(&stage.order, stage.order.sequence, rate);
    watch_mark(stage.watch);
    four_stores_heal(&stores);
    cell(BACK, in_ms(last_back_us(gone)), NO_BAR);
    load_stop(&stage.order);
    report_row_end(report);
    stage_close();
}

static bool can_be(enum fault fault)
{
    return fault != FAULT_LOST || stores.netns != NULL;
}

static void bench_some_gone(void **state)
{
    double well_us;

    (void)state;
    report_table(report, &fault_table_paced);
    well_us = healthy_row(rate);
    for (enum fault fault = FAULT_REFUSED; fault < FAULTS; fault++) {
        for (int gone = 1; gone < FOUR_STORES && can_be(fault); gone++)
            fault_row(fault, gone, rate, well_us);
    }
    report_table(report, &fault_table_free);
    well_us = healthy_row(0);
    for (enum fault fault = FAULT_REFUSED; fault <= FAULT_LOST; fault++) {
        for (int gone = 1; gone < FOUR_STORES && can_be(fault); gone++)
            fault_row(fault, gone, 0, well_us);
    }
}

/* --- away for long --- */

static void away_row(enum fault fault)
{
    struct watched seen;

    stage_open(rate);
    fault_begins(fault, 1);
    pause_ms(away_ms);
    watch_mark(stage.watch);
    four_stores_heal(&stores);
    (void)watch_await(stage.watch, 0, WATCH_FULL, PATIENCE_MS);
    seen = watch_read(stage.watch, 0);
    stage_stop_loads();
    report_row(report);
    report_text(report, A_STORE, "%s", fault_name(fault));
    cell(A_AWAY, (double)away_ms / 1000, NO_BAR);
    cell(A_FIRST, in_ms(seen.granted_us), 4000);
    cell(A_FULL, in_ms(seen.full_us), 15000);
    report_row_end(report);
    stage_close();
}

static void bench_away(void **state)
{
    (void)state;
    report_table(report, &fault_table_away);
    away_row(FAULT_REFUSED);
    away_row(can_be(FAULT_LOST) ? FAULT_LOST : FAULT_SWALLOWED);
}

/* --- all four --- */

static int64_t cpu_us(void)
{
    struct rusage usage;

    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000LL +
           usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

/* Until calls fail one after the other: nothing is left ahead, and the stores
 * have been found out. */
static void await_all_down(struct seqb_sequence *late)
{
    int64_t number;

    for (int failed = 0; failed < 10;)
        failed = seqb_next(late, &number, NULL) == SEQB_OK ? 0 : failed + 1;
}

/* How long after the deadline. */
static double lateness_ms(int64_t ns)
{
    const double late_ms = in_us(ns) / 1000 - DOWN_MS;

    return late_ms > 0 ? late_ms : 0;
}

static void down_row(enum fault fault)
{
    struct load late;
    struct seqb_sequence *sequence;
    int64_t used_us;
    int64_t begin_us;
    int64_t number;
    double cpu;

    stage_open(rate);
    stage_stop_loads();
    watch_free(stage.watch); /* or its work would be counted */
    stage.watch = NULL;
    sequence = sequence_of("late");
    for (size_t i = 0; i < FOUR_STORES; i++)
        four_stores_fault(&stores, i, fault, 0);
    await_all_down(sequence);
    used_us = cpu_us();
    begin_us = clock_now_us();
    load_start(&late, sequence, 0);
    pause_ms(DOWN_ALL_MS);
    load_stop(&late);
    cpu = (double)(cpu_us() - used_us) * 100 /
          (double)(clock_now_us() - begin_us);
    four_stores_fault(&stores, 0, FAULT_NONE, 0);
    begin_us = clock_now_us();
    while (seqb_next(sequence, &number, NULL) != SEQB_OK &&
           clock_now_us() - begin_us < PATIENCE_MS * 1000LL)
        continue;
    report_row(report);
    report_text(report, D_STORES, "%s", fault_name(fault));
    cell(D_MIDDLE, lateness_ms(latency_at(&late.latency, 0.5)), 5);
    cell(D_WORST, lateness_ms(late.latency.max_ns), 5);
    cell(D_CPU, cpu, 2);
    cell(D_BACK, in_ms(clock_now_us() - begin_us), 1000);
    report_row_end(report);
    four_stores_heal(&stores);
    stage_close();
}

static void bench_all_gone(void **state)
{
    (void)state;
    report_table(report, &fault_table_down);
    for (enum fault fault = FAULT_REFUSED; fault <= FAULT_SWALLOWED; fault++) {
        if (can_be(fault))
            down_row(fault);
    }
}

/* --- all of it --- */

static void prepare(void **state)
{
    (void)state;
    four_stores_start(&stores,
                      geteuid() == 0 && server_is_installed("ip") &&
                          server_is_installed("nft"),
                      1);
    topology_write();
}

static void end(void **state)
{
    (void)state;
    four_stores_end(&stores);
    folder_remove(folder);
    assert_int_equal(errors, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prepare),    cmocka_unit_test(bench_some_gone),
        cmocka_unit_test(bench_away), cmocka_unit_test(bench_all_gone),
        cmocka_unit_test(end),
    };
    struct report_arguments arguments = {
        .span = 1.5, .runs = 1, .unit = "SECONDS_OF_A_FAULT"};
    int failed;

    report = report_open(argc, argv, &arguments);
    fault_ms = (int64_t)(arguments.span * 1000);
    away_ms = fault_ms * 20 / 3;
    block_sigpipe();
    failed = cmocka_run_group_tests_name("bench_faults", tests, NULL, NULL);
    return report_close(report) != 0 || failed != 0;
}
