/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of the mysql engines over a scripted client library: the exact
 * statements, and what is made of answers that a server seldom gives. */
#include "client_script.h"

#include <mysqld_error.h>
#include <string.h>

#include "backends/backends.h"
#include "backends/mysql/claims/claims.h"
#include "backends/mysql/galera/galera.h"
#include "backends/mysql/server.h"
#include "platform/text.h"
#include "support/wrap.h"

#define ORDER "main/0/order"

static int opened; /* tables, of which the second ones are there */

WRAPPED(enum seqb_status, mysql_tables_open, struct mysql_link *link,
        bool create, struct seqb_error *err)
{
    (void)link;
    (void)err;
    return ++opened == 1 && !create ? SEQB_UNREACHABLE : SEQB_OK;
}

WRAPPED(enum seqb_status, mysql_cluster_enter, struct mysql *mysql,
        const struct seqb_backend_options *options, struct seqb_error *err)
{
    (void)options;
    (void)err;
    assert_string_equal(mysql->link.store, "s");
    return SEQB_OK;
}

WRAPPED(ssize_t, getrandom, void *bytes, size_t size, unsigned flags)
{
    assert_int_equal(flags, 0);
    memset(bytes, 2, size);
    memset(bytes, 1, size / 2);
    return (ssize_t)size;
}

/* --- opening --- */

#define ORIGIN_ASKED "SELECT STORE, CLAIMS;SELECT " MYSQL_AGE_SQL "\n"
#define BASE_ASKED   "SELECT origin FROM seqb_counters WHERE name = ''\n"

static void origin_answer(int at, const char *age_ms)
{
    client.replies[at] = (struct reply){.rows = 1, .cells = {{"s", "c"}}};
    client.replies[at + 1] = (struct reply){.rows = 1, .cells = {{age_ms}}};
}

static enum seqb_status enter(struct mysql *mysql, bool create,
                              struct seqb_error *err)
{
    const struct seqb_backend_options options = {.create = create};
    const enum seqb_status status = mysql_store_enter(mysql, &options, err);

    mysql_link_close(&mysql->link);
    return status;
}

/* Only the base of new tables is adopted. */
TEST(cluster_adopts_the_base_of_tables_that_it_made)
{
    struct mysql mysql;
    struct seqb_error err;

    client_begin(&mysql);
    mysql.link.is_cluster = true;
    opened = 0;
    origin_answer(0, "1050");
    origin_answer(2, "1050");
    assert_ok(enter(&mysql, true, &err));
    client_must_send(ORIGIN_ASKED ORIGIN_ASKED
                     "UPDATE seqb_counters SET origin = 's' WHERE name = '' "
                     "AND value = 0 AND origin = " MYSQL_STORE_SQL
                     "\n" BASE_ASKED);
}

TEST(tables_that_are_made_again_and_again_are_not_used)
{
    struct mysql mysql;
    struct seqb_error err;

    client_begin(&mysql);
    for (int i = 0; i < 12; i += 3)
        origin_answer(i, i < 6 ? "0" : "1049");
    assert_status(enter(&mysql, false, &err), SEQB_UNREACHABLE);
    assert_string_equal(err.text, "here: its tables are made again and again");
    client_must_send(ORIGIN_ASKED "DO SLEEP(1.050)\n" ORIGIN_ASKED
                                  "DO SLEEP(1.050)\n" ORIGIN_ASKED
                                  "DO SLEEP(0.001)\n" ORIGIN_ASKED
                                  "DO SLEEP(0.001)\n");
    assert_int_equal(mysql.link.deadline_ms, 6000 + 2 * 1051);
}

TEST(tables_of_the_future_are_not_waited_for)
{
    struct mysql mysql;
    struct seqb_error err;

    client_begin(&mysql);
    origin_answer(0, "-1");
    assert_status(enter(&mysql, false, &err), SEQB_UNREACHABLE);
    assert_non_null(strstr(err.text, "is 1 ms ahead of the server's clock"));
    client_must_send(ORIGIN_ASKED);
}

/* Others are faster each time. */
TEST(base_is_bound_four_times_at_most)
{
    struct mysql mysql;
    struct seqb_error err;
    const char *at = client.sent;
    int writes = 0;

    client_begin(&mysql);
    origin_answer(0, "1050");
    for (int i = 2; i < 10; i += 2)
        client.replies[i] = (struct reply){.rows = 1, .cells = {{"other"}}};
    assert_status(enter(&mysql, false, &err), SEQB_UNREACHABLE);
    assert_non_null(strstr(err.text, "here: its base could not be bound"));
    while ((at = strstr(at, "UPDATE seqb_counters SET origin = '")) != NULL) {
        assert_non_null(strstr(at, "' WHERE name = '' AND origin = 'other' AND "
                                   "SERVES AND STORE = 's'\n"));
        at++;
        writes++;
    }
    assert_int_equal(writes, 4);
}

/* --- grants --- */

#define UPDATE(values, most, from)                                             \
    "UPDATE seqb_counters SET value = LAST_INSERT_ID(value + " values          \
    ") WHERE value BETWEEN 0 AND " most " AND SERVES AND " from
#define OF_ROW(store)                                                          \
    store " = 's' AND (value % 65536 + 65535) % 65536 < 65533 AND "            \
          "origin = 'o' AND name = '" ORDER "'"
#define OF_CELL(now)                                                           \
    "origin = CONCAT('7:100:', " now ") AND name = '" SEQB_CELL ORDER "'"

static struct seqb_request wanted[2];

static void take_begin(struct mysql *mysql, const char *first)
{
    client_begin(mysql);
    (void)text_copy(mysql->sql.base.origin, SEQB_ORIGIN_SIZE, "o");
    for (int i = 0; i < 2; i++) {
        wanted[i] = (struct seqb_request){.counter = i == 0 ? first : ORDER,
                                          .want = 3,
                                          .limit = 100,
                                          .window = 7,
                                          .status = SEQB_AGAIN};
        mysql->sql.batch.requests[i] = &wanted[i];
    }
    mysql->sql.batch.count = 1;
}

TEST(take_is_one_statement_that_checks_all)
{
    struct mysql mysql;
    struct seqb_error err;

    take_begin(&mysql, ORDER);
    client.replies[0].id = 3;
    assert_ok(mysql_rows_take(&mysql.sql.base, &err));
    client_must_send(UPDATE("3", "97", OF_ROW("STORE")) "\n");
    mysql_link_close(&mysql.link);
    take_begin(&mysql, SEQB_CELL ORDER);
    client.replies[0].id = 3;
    assert_ok(mysql_rows_take(&mysql.sql.base, &err));
    client_must_send(UPDATE("3", "97", OF_CELL("NOW")) "\n");
    mysql_link_close(&mysql.link);
    take_begin(&mysql, SEQB_CELL ORDER);
    mysql.sql.batch.count = 2;
    client.replies[4].id = 3;
    client.replies[5].id = 100;
    assert_ok(mysql_rows_take(&mysql.sql.base, &err));
    client_must_send(
        "BEGIN;SELECT 1 FROM seqb_counters LIMIT 0 FOR UPDATE;"
        "SET @seqb_origin = STORE;SET @seqb_now = NOW_OF_SET;" UPDATE(
            "3", "97",
            OF_CELL("@seqb_now")) ";" UPDATE("3", "97",
                                             OF_ROW(
                                                 "@seqb_origin")) ";COMMIT\n");
    assert_int_equal(client.taken, 7);
    assert_int_equal(wanted[0].block.first, 0);
    assert_int_equal(wanted[1].block.first, 98);
    mysql_link_close(&mysql.link);
}

TEST(take_believes_only_what_can_be)
{
    static const struct {
        uint64_t changed, id;
        enum seqb_status status;
        int64_t first; /* 0: none */
    } cases[] = {{0, 50, SEQB_OK, 0},       {1, 0, SEQB_PROTOCOL, 0},
                 {1, 2, SEQB_PROTOCOL, 0},  {1, 3, SEQB_OK, 1},
                 {1, 100, SEQB_OK, 98},     {1, 101, SEQB_PROTOCOL, 0},
                 {2, 50, SEQB_PROTOCOL, 0}, {1, UINT64_MAX, SEQB_PROTOCOL, 0}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const bool is_granted = cases[i].first != 0;
        struct mysql mysql;
        struct seqb_error err;

        take_begin(&mysql, ORDER);
        client.replies[0] =
            (struct reply){.changed = cases[i].changed, .id = cases[i].id};
        assert_status(mysql_rows_take(&mysql.sql.base, &err), cases[i].status);
        assert_status(wanted[0].status, is_granted ? SEQB_OK : SEQB_AGAIN);
        assert_int_equal(wanted[0].block.first, cases[i].first);
        assert_int_equal(wanted[0].block.count, is_granted ? 3 : 0);
        assert_int_equal(client.closed, cases[i].status != SEQB_OK);
        mysql_link_close(&mysql.link);
    }
}

/* A conflict is tried again on the same connection. */
TEST(take_that_fails_closes_the_link_but_for_a_conflict)
{
    static const struct {
        unsigned error;
        bool is_cluster, stays;
    } cases[] = {{ER_LOCK_DEADLOCK, true, true},
                 {ER_LOCK_WAIT_TIMEOUT, true, true},
                 {ER_LOCK_DEADLOCK, false, false},
                 {ER_DUP_ENTRY, true, false}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct mysql mysql;
        struct seqb_error err;

        take_begin(&mysql, ORDER);
        mysql.link.is_cluster = cases[i].is_cluster;
        client.replies[0].error = cases[i].error;
        assert_true(mysql_rows_take(&mysql.sql.base, &err) != SEQB_OK);
        assert_int_equal(mysql_rows_conflict(&mysql.sql.base), cases[i].stays);
        assert_int_equal(client.closed, !cases[i].stays);
        mysql_link_close(&mysql.link);
    }
}

/* --- transactions --- */

static enum seqb_status lock(struct mysql *mysql, const char *now,
                             struct seqb_error *err)
{
    struct sql_counter counter = {.name = SEQB_CELL ORDER, .kept = "kept"};
    struct sql_guards *guards = &mysql->sql.guards;

    client_begin(mysql);
    guards->count = 1;
    guards->claims[0].name = "guard";
    client.replies[5] =
        (struct reply){.rows = 1, .cells = {{"", "s", now, "run"}}};
    return mysql_rows_lock(&mysql->sql.base, &counter, 1, err);
}

TEST(lock_reads_all_that_the_rows_depend_on)
{
    static char longest[SQL_CELL_NOW_SIZE + 1];
    struct mysql mysql;
    struct seqb_error err;

    assert_ok(lock(&mysql, "now", &err));
    client_must_send(
        "INSERT IGNORE INTO seqb_incarnation (id, nonce) VALUES (1, "
        "'01010101010101010202020202020202')\n"
        "BEGIN;TURN;INSERT INTO seqb_counters (name, value, origin) VALUES "
        "('', 0, '') ON DUPLICATE KEY UPDATE name = name;"
        "SELECT text FROM seqb_claims WHERE name = 'guard' LOCK IN SHARE MODE;"
        "SELECT CLOSED, STORE, NOW, RUN;"
        "SELECT value, origin FROM seqb_counters WHERE name = '" SEQB_CELL ORDER
        "' FOR UPDATE;SELECT value, origin FROM seqb_counters WHERE name = "
        "'kept' LOCK IN SHARE MODE\n");
    assert_int_equal(client.taken, 8);
    assert_string_equal(mysql.sql.now, "now");
    assert_string_equal(mysql.sql.guards.incarnation, "run");
    mysql_link_close(&mysql.link);
    memset(longest, 'x', sizeof longest - 1);
    assert_status(lock(&mysql, longest, &err), SEQB_PROTOCOL);
    assert_non_null(strstr(err.text, "the incarnation"));
    mysql_link_close(&mysql.link);
}

/* --- lists --- */

static enum seqb_status list(struct mysql *mysql, struct seqb_error *err)
{
    static struct seqb_listed listed[2];
    struct seqb_page page = {
        .prefix = "main/", .after = "", .listed = listed, .most = 2};

    client.now_ms = 5500;
    return mysql_list(&mysql->sql.base, &page, err);
}

/* So that the next call finds no transaction. */
TEST(list_that_fails_ends_its_transaction_or_the_link)
{
    static const struct {
        int fails[2]; /* these replies; 0: none */
        const char *store;
        int taken;
        bool rolls_back, closes;
    } cases[] = {{{3, 0}, "s", 5, true, false},
                 {{3, 4}, "s", 5, true, true},
                 {{0, 0}, "t", 5, false, false},
                 {{4, 0}, "t", 5, false, true}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct mysql mysql;
        struct seqb_error err;

        client_begin(&mysql);
        client.replies[2] =
            (struct reply){.rows = 1, .cells = {{"", cases[i].store, "run"}}};
        if (i > 0)
            (void)text_copy(mysql.sql.base.incarnation, SEQB_INCARNATION_SIZE,
                            "run");
        for (int n = 0; n < 2; n++) {
            if (cases[i].fails[n] > 0)
                client.replies[cases[i].fails[n]].error = ER_LOCK_DEADLOCK;
        }
        assert_status(list(&mysql, &err), SEQB_UNREACHABLE);
        assert_int_equal(client.taken, cases[i].taken);
        assert_non_null(strstr(client.sent, i > 0 ? "SELECT CLOSED, STORE, RUN;"
                                                  : "CLOSED, STORE, NULL;"));
        assert_int_equal(strstr(client.sent, "ROLLBACK") != NULL,
                         cases[i].rolls_back);
        assert_int_equal(client.closed, cases[i].closes);
        assert_int_equal(mysql.link.deadline_ms, 6500);
        mysql_link_close(&mysql.link);
    }
}

/* --- purges --- */

TEST(purge_deletes_what_is_over_in_its_order)
{
    const struct seqb_purge purge = {
        .counter = ORDER, .keep = ORDER "@20261121", .before_ms = 5, .most = 9};
    struct mysql mysql;
    struct seqb_error err;
    int32_t deleted = 0;

    client_begin(&mysql);
    client.replies[0] = (struct reply){.rows = 1, .cells = {{"", "1"}}};
    client.replies[2].changed = 4;
    assert_ok(mysql_purge(&mysql.sql.base, &purge, &deleted, &err));
    assert_int_equal(deleted, 4);
    assert_non_null(strstr(
        client.sent, "\nDELETE FROM seqb_counters WHERE name > CONCAT('" ORDER
                     "', '@') AND name < '" ORDER "@20261121' AND SERVES AND "
                     "(STORE = 's') ORDER BY name LIMIT 9\n"));
    mysql_link_close(&mysql.link);
}

/* --- descriptions --- */

TEST(node_tells_how_far_it_is_behind)
{
    static const struct {
        const char *waiting, *paused, *told;
    } cases[] = {
        {"2", "0.5", "here 2 write sets behind, paused 0.5 of the time"},
        {NULL, "0.5", ""},
        {"2", NULL, ""}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct seqb_details out = {.node = ""};
        struct mysql mysql;
        struct seqb_error err;

        client_begin(&mysql);
        mysql.link.is_cluster = mysql.link.is_mariadb = true;
        client.replies[0] =
            (struct reply){.rows = 1, .cells = {{"n:1", "primary"}}};
        client.replies[1] = (struct reply){
            .rows = 3,
            .cells = {{"wsrep_local_recv_queue", cases[i].waiting},
                      {"wsrep_flow_control_paused", cases[i].paused},
                      {"wsrep_local_state_comment", "Synced"}}};
        assert_ok(mysql_describe(&mysql.sql.base, &out, &err));
        assert_string_equal(out.node, "n:1");
        assert_string_equal(out.role, "Synced");
        assert_string_equal(out.tls, "none");
        assert_string_equal(out.replicas, cases[i].told);
        assert_non_null(strstr(client.sent, "SET STATEMENT wsrep_sync_wait = "
                                            "0 FOR SHOW STATUS"));
        mysql_link_close(&mysql.link);
    }
}
