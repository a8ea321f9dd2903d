/* SPDX-License-Identifier: Apache-2.0 */
/* What the postgres engine sends and makes of each answer, exactly: libpq and
 * the server are a script. */
#include <poll.h>
#include <string.h>

#include "backends/backends.h"
#include "backends/postgres/transaction.h"
#include "support/failure.h"
#include "unit/pq_script.h"

#define ORDER   "main/0/order"
#define NOTHING "[||||system|||run||f" /* no tables yet */

static void fail_at(const char *function, int nth)
{
    pq.fails = function;
    pq.nth = nth;
}

/* --- connecting --- */

TEST_WITH(SCRIPT, each_step_of_a_connection_may_fail)
{
    static const struct {
        const char *fails;
        enum seqb_status status;
        const char *words;
    } rows[] = {
        {"calloc", SEQB_NO_MEMORY, "pg: out of memory"},
        {"PQconnectStartParams", SEQB_NO_MEMORY, "out of memory"},
        {"PQstatus", SEQB_UNREACHABLE, "cannot connect"},
        {"PQconnectPoll", SEQB_UNREACHABLE, "cannot connect"},
        {"PQsetnonblocking", SEQB_UNREACHABLE, "cannot connect"},
        {"PQenterPipelineMode", SEQB_UNREACHABLE, "cannot connect"},
        {"PQserverVersion", SEQB_REFUSED, "older than PostgreSQL 12"},
        {"PQsocket", SEQB_UNREACHABLE, "cannot connect"},
        {"poll", SEQB_UNREACHABLE, "no answer within 1000 ms"},
        {"PQpipelineSync", SEQB_UNREACHABLE, "connection lost"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        (void)pq_begin(NULL);
        fail_at(rows[i].fails, 1);
        assert_fails(pq_open(&failure), rows[i].status, rows[i].words);
        assert_null(pq_backend);
        assert_int_equal(pq.finished, pq.connected);
    }
}

/* libpq says what it waits for; it begins with writing. */
TEST_WITH(SCRIPT, connection_waits_for_what_libpq_says)
{
    assert_done(pq_open(&failure), failure);
    assert_int_equal(pq.events, POLLOUT);
    assert_int_equal(pq.waits, 1);
    assert_ptr_equal(pq_backend->ops, &backend_postgres);
    assert_int_equal(pq_backend->fd, 1000);
    assert_string_equal(pq_backend->server, "postgres ");
    assert_string_equal(backend_postgres.library(), "libpq 15.4");
    assert_string_equal(pq_backend->domain, "postgres system");
    (void)pq_end(NULL);
    (void)pq_begin(NULL);
    pq.busy = 1;
    pq.interrupts = 2;
    assert_done(pq_open(&failure), failure);
    assert_int_equal(pq.events, POLLIN);
    assert_int_equal(pq.waits, 4);
    assert_int_equal(pq.wait_ms, 998);
}

TEST_WITH(SCRIPT, loss_of_an_earlier_host_is_not_that_of_the_next)
{
    pq_options.socket_path = NULL;
    pq_options.conninfo = "host=/a,/b";
    pq_options.accept_loss = true;
    PQ_ANSWERS("[|fsync is off|||system|||run||f", PQ_FACTS, PQ_BASE);
    assert_done(pq_open(&failure), failure);
    assert_int_equal(pq.connected, 2);
    assert_string_equal(pq_backend->loss, "");
    PQ_ANSWERS(NOTHING, "[|fsync is off|rp|rp|system|" PQ_STORE "|file|run||f",
               PQ_BASE);
    assert_done(pq_open(&failure), failure);
    assert_string_equal(
        pq_backend->loss,
        "fsync is off: a crash of its machine may repeat numbers");
}

/* --- the tables --- */

/* What is left of a text of several statements is read. */
TEST_WITH(SCRIPT, tables_are_made_and_looked_for_again)
{
    static const char *const known[] = {"=CREATE TABLE", "!42P07", "!42710",
                                        "!23505"};

    pq_options.create = true;
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        PQ_ANSWERS(NOTHING, "[a", known[i], "=CREATE TABLE", ".", PQ_FACTS,
                   PQ_BASE);
        assert_done(pq_open(&failure), failure);
        assert_string_equal(pq_backend->origin, PQ_STORE);
        assert_string_equal(pq_backend->incarnation, "run");
    }
}

TEST_WITH(SCRIPT, each_step_of_making_tables_may_fail)
{
    static const struct {
        const char *fails;
        int nth;
        const char *answer;
        enum seqb_status status;
        const char *words;
    } rows[] = {
        {"PQexitPipelineMode", 1, "=A", SEQB_UNREACHABLE, "connection lost"},
        {"PQsendQuery", 1, "=A", SEQB_UNREACHABLE, "connection lost"},
        {"PQflush", 2, "=A", SEQB_UNREACHABLE, "connection lost"},
        {"PQenterPipelineMode", 2, "=A", SEQB_UNREACHABLE, "connection lost"},
        {NULL, 0, "!42501", SEQB_REFUSED, "42501"},
        {NULL, 0, "sync", SEQB_PROTOCOL, "a statement makes no sense"},
        {NULL, 0, "?", SEQB_UNREACHABLE, "connection lost"},
    };

    pq_options.create = true;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        fail_at(rows[i].fails, rows[i].nth);
        PQ_ANSWERS(NOTHING, rows[i].answer, "!53100", ".", PQ_FACTS, PQ_BASE);
        assert_fails(pq_open(&failure), rows[i].status, rows[i].words);
        assert_int_equal(pq.finished, pq.connected);
    }
}

TEST_WITH(OPENED, text_of_statements_ends_within_the_time_of_its_call)
{
    PQ_ANSWERS("=A", ".");
    assert_ok(postgres_link_begin(pq_link(), 100, &failure));
    pq.busy = 1;
    fail_at("poll", 1);
    assert_fails(postgres_link_run(pq_link(), "A B", &failure),
                 SEQB_UNREACHABLE, "no answer within 100 ms");
    assert_int_equal(pq.events, POLLIN);
    assert_null(pq_link()->conn);
    pq_must_have_said("A\n");
}

/* --- what rows are bound to --- */

static void must_bind(int writes)
{
    const char *at = pq.said;

    for (int i = 0; i < writes; i++) {
        at = strstr(at, PQ_BEGIN "UPDATE elsewhere|" PQ_STORE "#");
        assert_non_null(at);
        at = strstr(at, "!|" PQ_STORE "\nCOMMIT\nSELECT");
        assert_non_null(at);
    }
    assert_null(strstr(at + 1, "UPDATE"));
}

/* Another broker is faster each time, but for the last one. */
TEST_WITH(SCRIPT, base_is_bound_in_at_most_four_tries)
{
#define FASTER "[elsewhere", "=UPDATE 0"
    PQ_ANSWERS(PQ_FACTS, FASTER, FASTER, FASTER, "[store#1!");
    assert_done(pq_open(&failure), failure);
    assert_string_equal(pq_backend->origin, PQ_STORE "#1");
    must_bind(3);
    PQ_ANSWERS(PQ_FACTS, FASTER, FASTER, FASTER, FASTER);
    assert_fails(pq_open(&failure), SEQB_UNREACHABLE,
                 "its base could not be bound to it: other brokers were");
    PQ_ANSWERS(PQ_FACTS, "[~");
    assert_done(pq_open(&failure), failure);
    assert_string_equal(pq_backend->origin, PQ_STORE);
}

TEST_WITH(SCRIPT, each_step_of_binding_may_fail)
{
    static const struct {
        const char *base;
        const char *write;
        const char *commit;
        enum seqb_status status;
        const char *words;
    } rows[] = {
        {"!42501", "", NULL, SEQB_REFUSED, "42501"},
        {"?", "", NULL, SEQB_UNREACHABLE, "connection lost"},
        {"[a|b", "", NULL, SEQB_PROTOCOL, "its base makes no sense"},
        {"[a;b", "", NULL, SEQB_PROTOCOL, "its base makes no sense"},
        {"[", "", NULL, SEQB_PROTOCOL, "its base makes no sense"},
        {"[a", "!42501", NULL, SEQB_REFUSED, "42501"},
        {"[a", "[1", NULL, SEQB_PROTOCOL, "a statement makes no sense"},
        {"[a", "=UPDATE 1", "!40001", SEQB_UNCERTAIN, "40001"},
        {"[a", "=UPDATE 1", "=ROLLBACK", SEQB_PROTOCOL, "COMMIT makes no"},
        {"[a", "=UPDATE 1", "?", SEQB_UNCERTAIN, "connection lost"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        pq.commit = rows[i].commit;
        PQ_ANSWERS(PQ_FACTS, rows[i].base, rows[i].write, PQ_BASE);
        assert_fails(pq_open(&failure), rows[i].status, rows[i].words);
        assert_int_equal(pq.finished, pq.connected);
    }
}

/* --- transactions --- */

static enum seqb_status tell_time(void)
{
    int64_t ms;

    failure.text[0] = '\0';
    return backend_postgres.clock(pq_backend, &ms, &failure);
}

/* The second of two requests; the first one is granted. */
static struct seqb_request requests[2];

static enum seqb_status reserve(size_t n)
{
    requests[0] =
        (struct seqb_request){.counter = ORDER, .want = 5, .limit = 100};
    requests[1] =
        (struct seqb_request){.counter = "main/0/z", .want = 6, .limit = 100};
    return backend_postgres.reserve(pq_backend, requests, n, &failure);
}

#define TAKES_ORDER "UPDATE " ORDER "|5|100|" PQ_STORE "|" PQ_STORE "|65536\n"
#define TAKES_Z     "UPDATE main/0/z|6|100|" PQ_STORE "|" PQ_STORE "|65536\n"

TEST_WITH(OPENED, transaction_waits_for_a_lock_half_of_its_time)
{
    PQ_ANSWERS("[7|12");
    assert_ok(reserve(1));
    pq_must_have_said(PQ_BEGIN TAKES_ORDER "COMMIT\n");
    assert_int_equal(requests[0].block.first, 8);
    assert_int_equal(requests[0].block.count, 5);
    pq_options.accept_loss = true;
    PQ_ANSWERS(PQ_FACTS, PQ_BASE, "[7|12");
    assert_done(pq_open(&failure), failure);
    pq.said[0] = '\0';
    assert_ok(reserve(1));
    pq_must_have_said("BEGIN\nSELECT 51|101|accepted\n" TAKES_ORDER "COMMIT\n");
}

/* A warning that came before the call says nothing of its commit. */
TEST_WITH(OPENED, commit_with_a_warning_is_uncertain)
{
    PQ_ANSWERS("[7|12", "[12|17");
    strcpy(pq_link()->warning, "before");
    pq.warning = "not on a standby";
    pq.is_notice = true;
    assert_done(reserve(1), failure);
    pq.is_notice = false;
    assert_fails(reserve(1), SEQB_UNCERTAIN,
                 "committed with a warning: not on a standby");
    assert_string_equal(pq_link()->warning, "not on a standby");
}

/* What was committed stays so. */
TEST_WITH(OPENED, connection_lost_behind_a_commit_is_not_uncertain)
{
    static const struct {
        int nth;
        enum seqb_status status;
    } rows[] = {{7, SEQB_UNCERTAIN}, /* instead of the answer to COMMIT */
                {8, SEQB_UNREACHABLE},
                {9, SEQB_UNREACHABLE}};

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        (void)pq_end(NULL);
        (void)pq_begin_open(NULL);
        PQ_ANSWERS("[7|12");
        fail_at("PQgetResult", rows[i].nth);
        assert_fails(reserve(1), rows[i].status, "connection lost");
        assert_null(pq_link()->conn);
    }
}

TEST_WITH(OPENED, answer_to_a_commit_says_what_became_of_it)
{
    static const struct {
        const char *commit;
        enum seqb_status status;
        const char *words;
        bool is_open;
    } rows[] = {{"!40001", SEQB_UNCERTAIN, "40001", true},
                {"=ROLLBACK", SEQB_PROTOCOL, "COMMIT makes no sense", false},
                {"[1", SEQB_UNCERTAIN, "makes no sense", false}};

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        (void)pq_end(NULL);
        (void)pq_begin_open(NULL);
        PQ_ANSWERS("[7|12", "[5");
        pq.commit = rows[i].commit;
        assert_fails(reserve(1), rows[i].status, rows[i].words);
        assert_int_equal(pq_link()->conn != NULL, rows[i].is_open);
        fail_at("PQgetResult", 1); /* nothing is committed by the next call */
        assert_status(tell_time(), SEQB_UNREACHABLE);
    }
}

TEST_WITH(OPENED, begin_of_a_transaction_says_whether_it_may_serve)
{
    static const struct {
        const char *prelude;
        enum seqb_status status;
        const char *words;
    } rows[] = {
        {"[|||store||0", SEQB_PROTOCOL, "its origin makes no sense"},
        {"[|||store||0|run;|||store||0|run", SEQB_PROTOCOL, "its origin"},
        {"[|||store|fsync is off|0|run", SEQB_UNSAFE, "accept_loss"},
        {"[|||||0|run", SEQB_ROLE, "a standby by now"},
        {"[|||altered||0|run", SEQB_UNREACHABLE, "open them again"},
        {"[|||else||0|run", SEQB_UNREACHABLE, "(else, was store), open it"},
        {"[||off|store||0|run", SEQB_UNSAFE, "synchronous_commit stays off"},
        {"!42501", SEQB_REFUSED, "42501"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        (void)pq_end(NULL);
        (void)pq_begin_open(NULL);
        PQ_ANSWERS("[7|12");
        pq.prelude = rows[i].prelude;
        assert_fails(reserve(1), rows[i].status, rows[i].words);
    }
}

/* A prelude that asks for what there is, since what marks the tables may hide
 * it. */
TEST_WITH(OPENED, tables_that_are_marked_are_searched_each_time)
{
    PQ_ANSWERS("[7|12");
    assert_ok(reserve(1));
    assert_non_null(strstr(pq.begun, "relhastriggers"));
    PQ_ANSWERS("[||rp|rp|system|" PQ_STORE "|file|run||t", PQ_BASE, "[7|12");
    assert_done(pq_open(&failure), failure);
    assert_ok(reserve(1));
    assert_null(strstr(pq.begun, "relhastriggers"));
    assert_non_null(strstr(pq.begun, "pg_trigger"));
}

/* --- reading and sending --- */

TEST_WITH(OPENED, answers_are_read_while_the_server_takes_nothing)
{
    PQ_ANSWERS("[5", "[5", "[5", "[5");
    pq.waits = 0;
    pq.unsent = 2;
    assert_ok(tell_time());
    assert_int_equal(pq.waits, 2);
    assert_int_equal(pq.events, POLLIN | POLLOUT);
    pq.busy = 2;
    assert_ok(tell_time());
    pq.busy = 1;
    fail_at("PQconsumeInput", 1); /* what came before may be an answer */
    assert_ok(tell_time());
    assert_int_equal(pq.events, POLLIN);
    pq.unsent = 1;
    fail_at("PQconsumeInput", 1);
    assert_status(tell_time(), SEQB_UNREACHABLE);
    assert_null(pq_link()->conn);
    assert_fails(tell_time(), SEQB_UNREACHABLE, "was lost before, open it");
}

/* Whether the connection is good then. */
TEST_WITH(OPENED, each_kind_of_failure_has_its_status)
{
    static const struct {
        const char *answer;
        enum seqb_status status;
        const char *words;
        const char *state;
    } rows[] = {{"!42501", SEQB_REFUSED, "42501", "42501"},
                {"L42501", SEQB_REFUSED, "42501", "42501"},
                {"F57P01", SEQB_UNREACHABLE, "connection lost", NULL},
                {"N", SEQB_UNREACHABLE, "connection lost", NULL},
                {"?", SEQB_UNREACHABLE, "connection lost", NULL},
                {"2", SEQB_UNREACHABLE, "an answer too many", NULL},
                {"=SELECT 1", SEQB_PROTOCOL, "a statement makes no", NULL}};

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        (void)pq_end(NULL);
        (void)pq_begin_open(NULL);
        pq_answers((const char *const[]){rows[i].answer, "[5", NULL});
        assert_fails(tell_time(), rows[i].status, rows[i].words);
        assert_int_equal(pq_link()->conn != NULL, rows[i].state != NULL);
        if (rows[i].state == NULL)
            continue;
        assert_string_equal(pq_link()->state, rows[i].state);
        assert_ok(tell_time());
        assert_string_equal(pq_link()->state, "");
    }
}

/* A wait that is interrupted goes on, for the rest of the time. */
TEST_WITH(OPENED, answer_is_waited_for_until_the_deadline)
{
    PQ_ANSWERS("[5", "[5");
    pq.waits = 0;
    pq.busy = 1;
    pq.interrupts = 99;
    assert_ok(tell_time());
    assert_int_equal(pq.waits, 100);
    assert_int_equal(pq.wait_ms, 1);
    pq.busy = 1;
    pq.interrupts = 100;
    assert_fails(tell_time(), SEQB_UNREACHABLE, "no answer within 100 ms");
    assert_int_equal(pq.waits, 200);
}

TEST_WITH(OPENED, child_uses_no_connection_of_its_parent)
{
    pq_link()->pid++;
    assert_fails(tell_time(), SEQB_FORKED, "was opened before fork()");
    pq_link()->pid--;
    PQ_ANSWERS("[5");
    assert_ok(tell_time());
}

/* --- a batch --- */

#define TAKES_BOTH PQ_BEGIN TAKES_ORDER TAKES_Z "COMMIT\n"
#define AGAIN      PQ_BEGIN TAKES_Z "COMMIT\n"

TEST_WITH(OPENED, others_are_served_after_a_request_that_is_refused)
{
    static const struct {
        const char *answers[4];
        const char *said;
    } rows[] = {
        {{"!40001", "[12|18"}, TAKES_BOTH "ROLLBACK\n" AGAIN},
        {{"!55P03", "[:1", "[12|18"}, TAKES_BOTH "ROLLBACK\nSELECT\n" AGAIN},
        {{"!55P03", "!42501", "[12|18"}, TAKES_BOTH "ROLLBACK\nSELECT\n" AGAIN},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        pq_answers(rows[i].answers);
        assert_done(reserve(2), failure);
        pq_must_have_said(rows[i].said);
        assert_status(requests[0].status, SEQB_UNREACHABLE);
        assert_non_null(strstr(requests[0].error.text,
                               "counter " ORDER ": pg (postgres /a:5432): "));
        assert_ok(requests[1].status);
        assert_int_equal(requests[1].block.first, 13);
        assert_int_equal(requests[1].block.count, 6);
    }
    PQ_ANSWERS("!40001");
    assert_done(reserve(1), failure);
    assert_status(requests[0].status, SEQB_UNREACHABLE);
    pq_must_have_said(PQ_BEGIN TAKES_ORDER "COMMIT\nROLLBACK\n");
}

TEST_WITH(OPENED, batch_ends_if_no_other_request_can_be_served)
{
    static const struct {
        const char *answers[4];
        const char *prelude;
        enum seqb_status status;
        const char *words;
        const char *said;
    } rows[] = {
        {{"!55P03", "[1"},
         NULL,
         SEQB_UNREACHABLE,
         ", and commits wait for a standby",
         TAKES_BOTH "ROLLBACK\nSELECT\n"},
        {{"!55P03", "?"},
         NULL,
         SEQB_UNREACHABLE,
         "the counter's row",
         TAKES_BOTH "ROLLBACK\nSELECT\n"},
        {{"!42501"}, NULL, SEQB_REFUSED, "42501", TAKES_BOTH},
        {{NULL}, "!40001", SEQB_UNREACHABLE, "40001", TAKES_BOTH},
        {{"[1|9", "[12|18"}, NULL, SEQB_PROTOCOL, "a reservation", TAKES_BOTH},
        {{"?", "[12|18"}, NULL, SEQB_UNCERTAIN, "connection lost", TAKES_BOTH},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        (void)pq_end(NULL);
        (void)pq_begin_open(NULL);
        pq.prelude = rows[i].prelude;
        pq_answers(rows[i].answers);
        assert_fails(reserve(2), rows[i].status, rows[i].words);
        pq_must_have_said(rows[i].said);
    }
}

TEST_WITH(OPENED, batch_ends_with_its_connection)
{
    PQ_ANSWERS("!40001");
    fail_at("PQgetResult", 7); /* behind the answer */
    assert_fails(reserve(2), SEQB_UNREACHABLE, "40001");
    assert_null(strstr(failure.text, "standby"));
    assert_null(pq_link()->conn);
}
