/* SPDX-License-Identifier: Apache-2.0 */
/* The incarnation of a MySQL store: what a connection is told that outlives the
 * nonce, as behind a proxy, and what stores do that have none. */
#include "contract/mysql_replica.h"

#include <stdatomic.h>
#include <string.h>

#include "platform/text.h"
#include "platform/thread.h"
#include "support/test.h"

#define SYNCED "synced/main"

static struct fixture *start(void **state)
{
    struct fixture *f = fixture_prepare(state, &backend_mysql_row);

    f->options.needs_incarnation = true;
    must_open(f);
    return f;
}

#define STARTED FIXTURE(struct fixture *f, start, fixture_stop)

/* Under the name stands the incarnation of open. */
static void sync(struct fixture *f)
{
    assert_ok(claim(f, SYNCED, f->backend->incarnation));
}

static enum seqb_status raise_to(struct fixture *f, int64_t floor)
{
    struct seqb_guard guard = {SYNCED, "", false};
    const struct seqb_raise raise = {
        .counter = ORDER, .floor = floor, .limit = LIMIT, .guard = &guard};
    int64_t value;

    return f->ops->raise(f->backend, &raise, &value, &f->err);
}

static enum seqb_status swap(struct fixture *f, const char *incarnation)
{
    const struct seqb_swap swap = {"new", "", "new", incarnation};
    char standing[SEQB_CLAIM_SIZE];

    return f->ops->swap(f->backend, &swap, standing, sizeof standing, &f->err);
}

static enum seqb_status list(struct fixture *f)
{
    struct seqb_listed listed;
    struct seqb_page page = {
        .prefix = "main/", .after = "", .listed = &listed, .most = 1};

    return f->ops->list(f->backend, &page, &f->err);
}

/* The connection goes on, the run does not. */
TEST_SKIPPABLE(STARTED, nothing_goes_on_with_another_nonce)
{
    char opened[SEQB_INCARNATION_SIZE];

    sync(f);
    assert_ok(raise_to(f, 5));
    (void)text_copy(opened, sizeof opened, f->backend->incarnation);
    TELL(f, "UPDATE seqb_incarnation SET nonce = 'another'");
    assert_status(claim(f, SYNCED, NULL), SEQB_UNREACHABLE);
    assert_status(claim(f, "new", "new"), SEQB_UNREACHABLE);
    assert_status(swap(f, NULL), SEQB_UNREACHABLE);
    assert_status(swap(f, opened), SEQB_FENCED);
    assert_status(list(f), SEQB_UNREACHABLE);
    assert_non_null(strstr(f->err.text, "another incarnation"));
    assert_status(raise_to(f, 99), SEQB_UNREACHABLE);
    assert_int_equal(number(f, "SELECT COUNT(*) FROM seqb_claims "
                               "WHERE name = 'new'"),
                     0);
    must_open(f);
    assert_status(raise_to(f, 99), SEQB_FENCED);
    assert_status(swap(f, opened), SEQB_FENCED);
    assert_ok(swap(f, f->backend->incarnation));
    must_take(f, 1, 5);
}

/* As a server that was started, behind a proxy. */
TEST_SKIPPABLE(STARTED, nothing_goes_on_without_a_nonce)
{
    sync(f);
    TELL(f, "DELETE FROM seqb_incarnation");
    assert_status(claim(f, SYNCED, NULL), SEQB_UNREACHABLE);
    assert_status(swap(f, f->backend->incarnation), SEQB_FENCED);
    assert_status(list(f), SEQB_UNREACHABLE);
    assert_status(raise_to(f, 99), SEQB_UNREACHABLE);
    must_open(f);
    assert_status(raise_to(f, 99), SEQB_FENCED);
}

/* A dump that is put back while the server runs has the nonce of before. */
TEST_SKIPPABLE(STARTED, table_made_again_is_another_incarnation)
{
    sync(f);
    TELL(f, "DO SLEEP(1.1);"
            "RENAME TABLE seqb_claims TO saved;"
            "CREATE TABLE seqb_claims LIKE saved;"
            "INSERT INTO seqb_claims SELECT * FROM saved");
    assert_status(claim(f, SYNCED, NULL), SEQB_UNREACHABLE);
    assert_status(raise_to(f, 99), SEQB_UNREACHABLE);
    must_open(f);
    assert_status(raise_to(f, 99), SEQB_FENCED);
}

struct raiser {
    struct fixture *f;
    enum seqb_status status;
    atomic_bool has_ended;
};

static void *raiser_run(void *argument)
{
    struct raiser *raiser = argument;

    raiser->status = raise_to(raiser->f, 99);
    atomic_store(&raiser->has_ended, true);
    return NULL;
}

/* What a snapshot shows of the claim is over when that is committed. */
TEST_STATE(ON_SERVER, guard_waits_for_a_claim_that_is_replaced)
{
    struct raiser raiser = {.f = start(state)};
    struct fixture *f = raiser.f;
    pthread_t thread;

    sync(f);
    assert_ok(raise_to(f, 5));
    TELL(f, "BEGIN; UPDATE seqb_claims SET text = 'another' "
            "WHERE name = '" SYNCED "'");
    assert_ok(thread_start(&thread, "raiser", raiser_run, &raiser, NULL));
    /* The server renews that table once it was not read for 100 ms. */
    while (!atomic_load(&raiser.has_ended) &&
           number(f, "SELECT COUNT(*) FROM information_schema.innodb_trx "
                     "WHERE trx_state = 'LOCK WAIT'") == 0)
        thread_rest_us(150000);
    TELL(f, "COMMIT");
    (void)pthread_join(thread, NULL);
    assert_status(raiser.status, SEQB_FENCED);
    must_take(f, 1, 5);
}

/* --- replicas --- */

/* The nonce is replicated like any row, though its table is in memory. */
TEST_STATE(ON_SERVER, promoted_replica_has_another_incarnation)
{
    const char *const args[] = {"--server-id=1", "--log-bin",
                                "--binlog-format=ROW", NULL};
    const char *const replica_args[] = {"--server-id=2", NULL};
    char opened[SEQB_INCARNATION_SIZE];
    struct server *replica;
    struct fixture *f;

    mariadb_require();
    f = fixture_prepare_on(state, &backend_mysql_row, server_mariadb(args));
    f->options.needs_incarnation = true;
    replica = server_mariadb(replica_args);
    replica_follow(replica, f->server);
    tables_make_alike(f, replica);
    sync(f);
    assert_ok(raise_to(f, 5));
    (void)text_copy(opened, sizeof opened, f->backend->incarnation);
    must_open(f);
    assert_string_equal(f->backend->incarnation, opened);
    replica_catch_up(replica, f->server);
    mariadb_execute(replica, "STOP SLAVE");
    f->options.port = server_port(replica);
    must_open(f);
    assert_true(answer_alike(f, replica, "SELECT nonce FROM seqb_incarnation"));
    assert_string_not_equal(f->backend->incarnation, opened);
    assert_status(raise_to(f, 99), SEQB_FENCED);
    server_free(replica);
}

/* --- stores without an incarnation --- */

/* The store opens, and says later why a guard is refused. */
static void must_refuse_guards_alone(struct fixture *f, const char *words)
{
    struct seqb_guard guard = {SYNCED, "", true};
    struct seqb_request requests[] = {
        {.counter = "main/0/a", .want = 1, .limit = LIMIT, .guard = &guard},
        {.counter = ORDER, .want = 1, .limit = LIMIT}};

    must_open(f);
    assert_string_equal(f->backend->incarnation, "");
    assert_ok(f->ops->reserve(f->backend, requests, 2, &f->err));
    assert_status(requests[0].status, SEQB_REFUSED);
    assert_non_null(strstr(requests[0].error.text, words));
    assert_ok(requests[1].status);
    assert_false(guard.has_failed);
    assert_status(raise_to(f, 99), SEQB_REFUSED);
    assert_non_null(strstr(f->err.text, words));
    assert_ok(list(f));
}

TEST_SKIPPABLE(STARTED, store_without_the_table_refuses_guards)
{
    TELL(f, "DROP TABLE seqb_incarnation");
    f->options.auto_create = false;
    must_refuse_guards_alone(f, "sql/mysql.sql");
}

TEST_SKIPPABLE(STARTED, store_that_keeps_its_nonce_refuses_guards)
{
    TELL(f, "ALTER TABLE seqb_incarnation ENGINE = InnoDB");
    must_refuse_guards_alone(f, "ENGINE = MEMORY");
}

TEST_SKIPPABLE(STARTED, table_that_may_not_be_made_refuses_guards)
{
    TELL(f, "DROP TABLE seqb_incarnation");
    mariadb_execute(f->server,
                    "REVOKE ALL PRIVILEGES, GRANT OPTION FROM seq;"
                    "GRANT SELECT, INSERT, UPDATE ON %s.* TO seq",
                    f->database);
    must_refuse_guards_alone(f, "sql/mysql.sql lists the rights");
}

/* The nonce is there, and not this user's to read. */
TEST_SKIPPABLE(STARTED, nonce_that_may_not_be_read_refuses_guards)
{
    sync(f);
    mariadb_execute(f->server,
                    "REVOKE ALL PRIVILEGES, GRANT OPTION FROM seq;"
                    "GRANT SELECT, INSERT, UPDATE ON %s.seqb_counters TO seq;"
                    "GRANT SELECT, INSERT, UPDATE ON %s.seqb_claims TO seq;"
                    "GRANT INSERT ON %s.seqb_incarnation TO seq",
                    f->database, f->database, f->database);
    must_refuse_guards_alone(f, "sql/mysql.sql lists the rights");
}

/* IGNORE, which two brokers at once need, makes a warning of the error. */
TEST_SKIPPABLE(STARTED, row_that_is_not_kept_refuses_guards)
{
    TELL(f, "DELETE FROM seqb_incarnation;"
            "CREATE TRIGGER never BEFORE INSERT ON seqb_incarnation "
            "FOR EACH ROW SET NEW.nonce = NULL");
    must_refuse_guards_alone(f, "sql/mysql.sql");
}

TEST_BEFORE_ALL(without_sigpipe);
