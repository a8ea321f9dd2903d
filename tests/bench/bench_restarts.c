/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a caller of seqb_next feels, and what is lost, when one of four
 * neighbours is restarted: two MariaDB, a PostgreSQL and a Redis, while 10,000
 * numbers a second are taken. Then a lessor is restarted while another one is
 * down, so that it waits for that one; and all that are left, so that none
 * leases and spare windows must last.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seqbroker/admin.h>

#include "bench/load.h"
#include "bench/now.h"
#include "bench/restart_tables.h"
#include "bench/watch.h"
#include "platform/clock.h"
#include "platform/minmax.h"
#include "platform/text.h"
#include "support/folder.h"
#include "support/server_mariadb.h"
#include "support/server_postgres.h"
#include "support/server_redis.h"
#include "support/servers.h"
#include "support/test.h"

#define STORES         4
#define LESSORS        3
#define RATE           10000 /* numbers a second */
#define MEMORY_BITS    3
#define WINDOW_BITS    8 /* as by default here */
#define PARTITION_BITS 2 /* of four stores */
#define LESSOR_BITS    2 /* of three */
#define PATIENCE_MS    30000
#define SHARE_MS       5000
#define LOST_S         60

enum store { MARIADB_A, POSTGRES, MARIADB_B, REDIS, NONE };

static const char *const names[STORES] = {"mysql-a", "pg-a", "mysql-b",
                                          "redis-a"};

static const char *const words[] = {"MariaDB", "PostgreSQL", "MariaDB", "Redis",
                                    "none"};

static struct server *servers[STORES];
static char folder[] = "/tmp/seqbroker-bench-XXXXXX";
static char topology[64];
static struct report *report;
static double span_s;

/* What was seen of a partition's numbers, by their places: see place_of. */
struct seen {
    int64_t first;
    int64_t last;
    int64_t numbers;
};

/* One broker, and who takes numbers. */
static struct {
    struct seqb_broker *broker;
    struct seqb_sequence *sequence;
    struct watch *watch;
    struct load load;
    struct seen seen[STORES]; /* by the load's thread */
    int64_t waits;            /* that there were when it was counted last */
} stage;

/* --- the stores --- */

static void store_stop(enum store store)
{
    server_shut_down(servers[store], store == POSTGRES ? SIGINT : SIGTERM);
}

static struct server *start_mariadb(void)
{
    struct server *server = server_mariadb(NULL);

    mariadb_execute(server, "CREATE DATABASE seq; CREATE USER seq@'%%'; "
                            "GRANT ALL ON seq.* TO seq@'%%'");
    return server;
}

static void stores_start(void)
{
    mariadb_require();
    postgres_require();
    servers[MARIADB_A] = start_mariadb();
    servers[POSTGRES] = server_postgres(NULL);
    servers[MARIADB_B] = start_mariadb();
    servers[REDIS] = server_redis(NULL);
    postgres_execute(servers[POSTGRES], "postgres", "CREATE ROLE seq LOGIN");
    postgres_execute(servers[POSTGRES], "postgres",
                     "CREATE DATABASE seq OWNER seq");
}

static void backend_write(FILE *file, enum store store)
{
    static const char *const engines[STORES] = {"mysql-row", "postgres",
                                                "mysql-row", "redis"};

    fprintf(file,
            "%s  { name = \"%s\"; engine = \"%s\"; host = \"127.0.0.1\"; "
            "port = %d; %s}",
            store == 0 ? "" : ",\n", names[store], engines[store],
            (int)server_port(servers[store]),
            store == REDIS ? "" : "user = \"seq\"; database = \"seq\"; ");
}

static void topology_write(void)
{
    FILE *file;

    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("SEQBROKER_STATE_DIR", folder, 1), 0);
    assert_true(text_format(topology, sizeof topology, "%s/c.conf", folder));
    file = fopen(topology, "we");
    assert_non_null(file);
    fprintf(file, "backends = (\n");
    for (int i = 0; i < STORES; i++)
        backend_write(file, (enum store)i);
    fprintf(file,
            " );\n"
            "pools = ( { name = \"main\"; authority = \"neighbours\";\n"
            "  partitions = [ \"%s\", \"%s\", \"%s\", \"%s\" ];\n"
            "  window_bits = %d; } );\n"
            "sequences = ( { key = \"order\"; memory_bits = %d;\n"
            "  deadline = \"10s\"; } );\n",
            names[0], names[1], names[2], names[3], WINDOW_BITS, MEMORY_BITS);
    assert_int_equal(fclose(file), 0);
}

/* --- the stage --- */

/* Of a number in its partition: lease, offset in the window, memory bits. The
 * lessor's index, which leaves holes, is left out, as is the partition's. */
static int64_t place_of(int64_t number)
{
    const int64_t value = number >> (MEMORY_BITS + PARTITION_BITS);
    const int64_t lease = value >> (WINDOW_BITS + LESSOR_BITS);
    const int64_t offset = value & ((1 << WINDOW_BITS) - 1);

    return (lease << WINDOW_BITS | offset) << MEMORY_BITS |
           (number & ((1 << MEMORY_BITS) - 1));
}

/* On the load's thread. */
static void note_number(void *context, int64_t number)
{
    struct seen *seen =
        (struct seen *)context + (number >> MEMORY_BITS) % STORES;
    const int64_t place = place_of(number);

    if (seen->numbers++ == 0)
        seen->first = place;
    seen->last = max_of(seen->last, place);
}

/* Places that were passed, and came to nobody. Of NONE: in the partition where
 * they are most. */
static int64_t lost_of(enum store store)
{
    const struct seen *seen = &stage.seen[store];
    int64_t lost = 0;

    for (int i = 0; i < STORES && store == NONE; i++)
        lost = max_of(lost, lost_of((enum store)i));
    if (store != NONE)
        lost = seen->last - seen->first + 1 - seen->numbers;
    return max_of(lost, 0);
}

/* Calls that found no number ahead, since it was asked last. */
static int64_t waits_since(void)
{
    struct seqb_sequence_status status;
    size_t count;
    int64_t waits;

    assert_ok(
        seqb_sequences(stage.broker, &status, sizeof status, 1, &count, NULL));
    waits = status.waits - stage.waits;
    stage.waits = status.waits;
    return waits;
}

static bool are_level(void)
{
    struct seqb_lessor lessors[LESSORS];
    size_t count = 0;

    assert_ok(seqb_lessors(stage.broker, lessors, sizeof lessors[0], LESSORS,
                           &count, NULL));
    for (size_t i = 0; i < count; i++) {
        if (strcmp(lessors[i].state, "level") != 0)
            return false;
    }
    return true;
}

/* How long it takes from now; -1: too long. */
static double await_ms(bool (*is_so)(void))
{
    const int64_t begin_us = clock_now_us();

    while (!is_so()) {
        if (clock_now_us() - begin_us > PATIENCE_MS * INT64_C(1000))
            return -1;
        pause_s(0.001);
    }
    return (double)(clock_now_us() - begin_us) / 1000;
}

static void load_begin(void)
{
    memset(stage.seen, 0, sizeof stage.seen);
    load_start_reporting(&stage.load, stage.sequence, RATE, note_number,
                         stage.seen);
}

static void load_end(void)
{
    load_stop(&stage.load);
    if (stage.load.errors > 0)
        print_message("the first error: %s\n", stage.load.first.text);
}

/* A broker of its own for each row, which holds windows for a while. */
static void stage_open(void)
{
    struct seqb_error err;

    if (seqb_open(topology, &stage.broker, &err) != SEQB_OK ||
        seqb_get_sequence(stage.broker, "order", &stage.sequence, &err) !=
            SEQB_OK)
        fail_msg("%s", err.text);
    stage.watch = watch_new(stage.broker);
    (void)await_ms(are_level);
    load_begin();
    pause_s(span_s);
    load_end();
    (void)waits_since();
    load_begin();
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

static double in_ms(int64_t us)
{
    return us < 0 ? -1 : (double)us / 1000;
}

/* The first three columns of figures of both tables. */
static void cells_load(void)
{
    cell(WAITED, (double)waits_since(), 0);
    cell(LONGEST, (double)stage.load.latency.max_ns / 1000, NO_BAR);
    cell(ERRORS, (double)stage.load.errors, 0);
}

/* --- one of four --- */

/* From when the server answers again. */
static void cells_back(enum store store)
{
    const struct watched seen = watch_read(stage.watch, store);

    cell(R_FIRST, in_ms(seen.granted_us), NO_BAR);
    cell(R_SHARE, in_ms(seen.full_us), SHARE_MS);
}

/* How long it was down, in s. */
static double restart(enum store store)
{
    const double begin = now_s();

    store_stop(store);
    server_start(servers[store]);
    return now_s() - begin;
}

static void cells_lost(enum store store)
{
    const double lost = (double)lost_of(store);

    cell(R_LOST, lost, NO_BAR);
    cell(R_LOST_S, lost * STORES / RATE, LOST_S);
}

static void restart_row(enum store store)
{
    stage_open();
    report_row(report);
    report_text(report, STORE, "%s", words[store]);
    if (store != NONE) {
        cell(R_DOWN, restart(store), NO_BAR);
        watch_mark(stage.watch);
        (void)watch_await(stage.watch, store, WATCH_FULL, PATIENCE_MS);
        cells_back(store);
    }
    pause_s(span_s);
    load_end();
    cells_load();
    cells_lost(store);
    report_row_end(report);
    stage_close();
}

static void bench_restarts(void **state)
{
    (void)state;
    report_table(report, &restart_table);
    restart_row(NONE);
    for (enum store store = MARIADB_A; store < NONE; store++) {
        if (store != MARIADB_B)
            restart_row(store);
    }
}

/* --- a lessor that waits --- */

/* Whether status says that MARIADB_A waits for the one that is down. */
static bool is_told(void)
{
    struct seqb_lessor lessors[LESSORS];
    size_t count = 0;

    assert_ok(seqb_lessors(stage.broker, lessors, sizeof lessors[0], LESSORS,
                           &count, NULL));
    for (size_t i = 0; i < count; i++) {
        if (strcmp(lessors[i].backend, names[MARIADB_A]) == 0)
            return strcmp(lessors[i].state, "waiting") == 0 &&
                   strcmp(lessors[i].waits_for, names[MARIADB_B]) == 0;
    }
    return false;
}

/* MARIADB_B stays down while those before `upto` are restarted. */
static void waiting_row(const char *what, enum store upto)
{
    stage_open();
    report_row(report);
    report_text(report, STORE, "%s", what);
    store_stop(MARIADB_B);
    for (enum store store = MARIADB_A; store < upto; store++)
        (void)restart(store);
    cell(L_TOLD, await_ms(is_told), NO_BAR);
    pause_s(span_s);
    load_end();
    cells_load();
    cell(L_GIVEN, (double)stage.load.latency.count, NO_BAR);
    server_start(servers[MARIADB_B]);
    cell(L_LEVEL, await_ms(are_level), NO_BAR);
    report_row_end(report);
    stage_close();
}

static void bench_waiting(void **state)
{
    (void)state;
    report_table(report, &waiting_table);
    waiting_row("another one is restarted", POSTGRES);
    waiting_row("both others are restarted", MARIADB_B);
}

/* --- all of it --- */

static void prepare(void **state)
{
    (void)state;
    stores_start();
    topology_write();
}

static void end(void **state)
{
    (void)state;
    folder_remove(folder);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prepare),
        cmocka_unit_test(bench_restarts),
        cmocka_unit_test(bench_waiting),
        cmocka_unit_test(end),
    };
    struct report_arguments arguments = {
        .span = 5, .runs = 1, .unit = "SECONDS"};
    int failed;

    report = report_open(argc, argv, &arguments);
    span_s = arguments.span;
    block_sigpipe();
    failed = cmocka_run_group_tests_name("bench_restarts", tests, NULL, NULL);
    return report_close(report) != 0 || failed != 0;
}
