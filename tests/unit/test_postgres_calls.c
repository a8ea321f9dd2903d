/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of the postgres engine, one by one: what each tells the server, and
 * what it makes of each answer. libpq and the server are a script. */
#include <string.h>

#include "backends/backends.h"
#include "backends/postgres/transaction.h"
#include "platform/text.h"
#include "support/failure.h"
#include "unit/pq_script.h"

#define ORDER "main/0/order"
#define CELL  SEQB_CELL ORDER

/* What a call answered. */
static char told[256];

static enum seqb_status install(void)
{
    int64_t taken = 0;
    const struct seqb_window window = {.counter = CELL,
                                       .window = 3,
                                       .size = 100,
                                       .over = 2,
                                       .take = 7,
                                       .taken = &taken};
    int64_t standing = 0;
    const enum seqb_status status =
        backend_postgres.install(pq_backend, &window, &standing, &failure);

    (void)text_format(told, sizeof told, "%d", (int)taken);
    return status;
}

static enum seqb_status purge_most(int32_t most)
{
    const struct seqb_purge days = {.counter = ORDER,
                                    .keep = ORDER "@20261102",
                                    .before_ms = 5,
                                    .most = most};
    int32_t deleted = -1;
    const enum seqb_status status =
        backend_postgres.purge(pq_backend, &days, &deleted, &failure);

    (void)text_format(told, sizeof told, "%d", (int)deleted);
    return status;
}

static enum seqb_status purge(void)
{
    return purge_most(9);
}

static enum seqb_status purge_none(void)
{
    return purge_most(0);
}

static enum seqb_status describe(void)
{
    struct seqb_details details = {.node = ""};
    const enum seqb_status status =
        backend_postgres.describe(pq_backend, &details, &failure);

    (void)text_format(told, sizeof told, "%s|%s|%s|%s|%s", details.node,
                      details.role, details.quorum, details.replicas,
                      details.tls);
    return status;
}

static enum seqb_status list(void)
{
    struct seqb_listed listed[3];
    struct seqb_page page = {
        .prefix = "main/", .after = "", .listed = listed, .most = 3};
    const enum seqb_status status =
        backend_postgres.list(pq_backend, &page, &failure);

    told[0] = '\0';
    for (int i = 0; i < page.count; i++)
        (void)text_append(told, sizeof told, "%s %d ", listed[i].counter,
                          (int)listed[i].value);
    return status;
}

static enum seqb_status permit(void)
{
    return backend_postgres.permits(pq_backend, ORDER, &failure);
}

static enum seqb_status tell_time(void)
{
    int64_t ms = -1;
    const enum seqb_status status =
        backend_postgres.clock(pq_backend, &ms, &failure);

    (void)text_format(told, sizeof told, "%d", (int)ms);
    return status;
}

static enum seqb_status claim_text(const char *text)
{
    return backend_postgres.claim(pq_backend, "main", text, told, 6, &failure);
}

static enum seqb_status claim(void)
{
    return claim_text("a");
}

static enum seqb_status claim_read(void)
{
    return claim_text(NULL);
}

static enum seqb_status swap_from(const char *expected)
{
    const struct seqb_swap swap = {"w", expected, "new", NULL};

    return backend_postgres.swap(pq_backend, &swap, told, sizeof told,
                                 &failure);
}

static enum seqb_status swap(void)
{
    return swap_from("old");
}

static enum seqb_status swap_in(void)
{
    const struct seqb_swap swap = {"w", "old", "new", "then"};

    return backend_postgres.swap(pq_backend, &swap, told, sizeof told,
                                 &failure);
}

static enum seqb_status take_cell(void)
{
    struct seqb_request request = {
        .counter = CELL, .want = 5, .limit = 100, .window = 3};
    const enum seqb_status status =
        backend_postgres.reserve(pq_backend, &request, 1, &failure);

    (void)text_format(told, sizeof told, "%d %d", (int)request.block.first,
                      (int)request.block.count);
    return status;
}

static enum seqb_status swap_none(void)
{
    return swap_from("");
}

/* Two of them; they are sent in the order of their names. */
static enum seqb_status claim_many(void)
{
    struct seqb_claim claims[] = {{.name = "n", .text = "b"},
                                  {.name = "m", .text = NULL}};
    size_t done = 0;
    const enum seqb_status status =
        backend_postgres.claim_many(pq_backend, claims, 2, &done, &failure);

    (void)text_format(told, sizeof told, "%zu %s %s", done, claims[0].standing,
                      claims[1].standing);
    return status;
}

static enum seqb_status raise_guarded(void)
{
    struct seqb_guard guard = {"known", "t", false};
    const struct seqb_raise raise = {
        .counter = ORDER, .floor = 10, .limit = 100, .guard = &guard};
    int64_t value = 0;
    const enum seqb_status status =
        backend_postgres.raise(pq_backend, &raise, &value, &failure);

    (void)text_format(told, sizeof told, "%d", (int)value);
    return status;
}

#define COMMIT   "COMMIT\n"
#define ROLLBACK "ROLLBACK\n"
#define RENEW    PQ_BEGIN "UPDATE " CELL "|7|3:100:|100|2:100:\n" COMMIT
#define NOTE                                                                   \
    PQ_BEGIN "INSERT @" ORDER "|5|" ORDER "@20261102|" PQ_STORE "\n" COMMIT
#define DELETE                                                                 \
    PQ_BEGIN "DELETE " ORDER "|" ORDER "@20261102|9|" PQ_STORE "\n" COMMIT
#define LIST    PQ_BEGIN "SELECT main/|main0|3\nSELECT\n" COMMIT
#define IS_SAME PQ_STORE "|file|run"
#define CLAIM                                                                  \
    PQ_BEGIN "INSERT main|a|" IS_SAME "\n"                                     \
             "SELECT main\n" COMMIT
#define MANY PQ_BEGIN "SELECT m\nINSERT n|b|" IS_SAME "\nSELECT n\n" COMMIT

#define LOCKS                                                                  \
    PQ_BEGIN "SELECT known\nINSERT\nSELECT \nSELECT @\n"                       \
             "SELECT " ORDER "\nSELECT @@" ORDER "\n"
#define WRITES                                                                 \
    "INSERT " ORDER "|10|" PQ_STORE "\n"                                       \
    "INSERT @@" ORDER "|65536|" PQ_STORE "\n" COMMIT

/* The guard and the base, before the counter and its note. */
#define NONE  "[:2"
#define LED   "[trun|run", "=INSERT 0 0", "[0|store", NONE
#define FIVE  "[5|store"
#define LATER "=INSERT 0 0", "[0|store", NONE, FIVE, NONE

static const struct {
    enum seqb_status (*call)(void);
    const char *answers[9];
    const char *commit;
    enum seqb_status status;
    const char *words; /* of the failure; of success: what it told */
    const char *said;
} rows[] = {
    {install, {"=UPDATE 1"}, NULL, SEQB_OK, "7", RENEW},
    {install, {"!42501"}, NULL, SEQB_REFUSED, "42501", RENEW ROLLBACK},
    {install, {"=UPDATE 1"}, "?", SEQB_UNCERTAIN, "lost", RENEW},

    {raise_guarded,
     {LED, FIVE, NONE, "=INSERT 0 1", "=INSERT 0 1"},
     NULL,
     SEQB_OK,
     "10",
     LOCKS WRITES},
    {raise_guarded,
     {LED, FIVE, NONE, "=INSERT 0 1", "=INSERT 0 0"},
     NULL,
     SEQB_PROTOCOL,
     "a row of seqb_counters was not written",
     LOCKS WRITES},
    {raise_guarded,
     {LED, FIVE, NONE, "!22003"},
     NULL,
     SEQB_EXHAUSTED,
     "22003",
     LOCKS WRITES ROLLBACK},
    {raise_guarded,
     {LED, FIVE, NONE, "=INSERT 0 1", "=INSERT 0 1"},
     "!40001",
     SEQB_UNCERTAIN,
     "40001",
     LOCKS WRITES ROLLBACK},
    {raise_guarded,
     {LED, "[x|o", NONE},
     NULL,
     SEQB_CORRUPT,
     ORDER,
     LOCKS ROLLBACK},
    {raise_guarded,
     {LED, "[5|~", NONE},
     NULL,
     SEQB_CORRUPT,
     ORDER,
     LOCKS ROLLBACK},
    {raise_guarded,
     {LED, "[5|o;6|o", NONE},
     NULL,
     SEQB_PROTOCOL,
     "a row",
     LOCKS},
    {raise_guarded,
     {LED, "[5", NONE},
     NULL,
     SEQB_PROTOCOL,
     "a row makes",
     LOCKS},
    {raise_guarded, {LED, FIVE, "[5"}, NULL, SEQB_PROTOCOL, "a row", LOCKS},
    {raise_guarded,
     {"[trun", LATER},
     NULL,
     SEQB_PROTOCOL,
     "a guard makes",
     LOCKS},
    {raise_guarded, {NONE, LATER}, NULL, SEQB_PROTOCOL, "a guard makes", LOCKS},
    {raise_guarded, {"!42501"}, NULL, SEQB_REFUSED, "42501", LOCKS ROLLBACK},
    {raise_guarded,
     {"[trun|run", "!42501"},
     NULL,
     SEQB_REFUSED,
     "42501",
     LOCKS ROLLBACK},
    {raise_guarded,
     {"[trun|else", LATER},
     NULL,
     SEQB_UNREACHABLE,
     "again",
     LOCKS ROLLBACK},
    {raise_guarded,
     {"[other|run", LATER},
     NULL,
     SEQB_FENCED,
     "pg (postgres /a:5432): counter " ORDER,
     LOCKS ROLLBACK},

    {purge, {"=INSERT 0 1", "=DELETE 4"}, NULL, SEQB_OK, "4", NOTE DELETE},
    {purge_none, {"=INSERT 0 1"}, NULL, SEQB_OK, "0", NOTE},
    {purge, {"!40001"}, NULL, SEQB_UNREACHABLE, "40001", NOTE ROLLBACK},
    {purge, {"=INSERT"}, NULL, SEQB_PROTOCOL, "a change makes no sense", NOTE},
    {purge,
     {"=INSERT 0 1", "!42501"},
     NULL,
     SEQB_REFUSED,
     "run GRANT DELETE ON seqb_counters",
     NOTE DELETE ROLLBACK},
    {purge,
     {"=INSERT 0 1", "!40001"},
     NULL,
     SEQB_UNREACHABLE,
     "scripted (SQLSTATE 40001)",
     NOTE DELETE ROLLBACK},
    {purge, {"=INSERT 0 1"}, "!40001", SEQB_UNCERTAIN, "40001", NOTE ROLLBACK},

    {describe,
     {"[n:1|primary|q|0|"},
     NULL,
     SEQB_OK,
     "n:1|primary|q|none|none",
     "SELECT\n"},
    {describe,
     {"[n:1|primary||2|"},
     NULL,
     SEQB_OK,
     "n:1|primary||2|none",
     "SELECT\n"},
    {describe,
     {"[n:1|primary||2|7"},
     NULL,
     SEQB_OK,
     "n:1|primary||2, at most 7 bytes behind|none",
     "SELECT\n"},
    {describe, {"["}, NULL, SEQB_OK, "/a||||none", "SELECT\n"},
    {describe, {"!42501"}, NULL, SEQB_OK, "/a||||none", "SELECT\n"},
    {describe, {"?"}, NULL, SEQB_UNREACHABLE, "lost", "SELECT\n"},

    {list,
     {"[main/a|1;main/b|2", "[run"},
     NULL,
     SEQB_OK,
     "main/a 1 main/b 2 ",
     LIST},
    {list, {"[main/a|x", "[run"}, NULL, SEQB_CORRUPT, "main/a", LIST},
    {list, {"[main/a|1", "[other"}, NULL, SEQB_UNREACHABLE, "again", LIST},
    {list, {"[main/a|1", "["}, NULL, SEQB_PROTOCOL, "its run", LIST},
    {list, {"[main/a", "[run"}, NULL, SEQB_PROTOCOL, "a page", LIST},
    {list, {"!42501"}, NULL, SEQB_REFUSED, "42501", LIST ROLLBACK},
    {list,
     {"[main/a|1", "[run"},
     "!40001",
     SEQB_UNCERTAIN,
     "40001",
     LIST ROLLBACK},

    {permit,
     {"[a", "[a", "[a", "[a"},
     NULL,
     SEQB_OK,
     "",
     "EXPLAIN\nEXPLAIN\nEXPLAIN\nEXPLAIN\n"},
    {permit,
     {"[a", "!42501"},
     NULL,
     SEQB_REFUSED,
     "42501",
     "EXPLAIN\nEXPLAIN\n"},

    {tell_time, {"[1234"}, NULL, SEQB_OK, "1234", "SELECT\n"},
    {tell_time, {"[~"}, NULL, SEQB_PROTOCOL, "the time", "SELECT\n"},
    {tell_time, {"[1;2"}, NULL, SEQB_PROTOCOL, "the time", "SELECT\n"},
    {tell_time, {"!42501"}, NULL, SEQB_REFUSED, "42501", "SELECT\n"},

    {claim, {"=INSERT 0 1", "[a|file|run"}, NULL, SEQB_OK, "a", CLAIM},
    {claim, {"=INSERT 0 0", "[12345|file|run"}, NULL, SEQB_OK, "12345", CLAIM},
    {claim,
     {"=INSERT 0 0", "[123456|file|run"},
     NULL,
     SEQB_PROTOCOL,
     "claim 'main' is longer than 5 bytes",
     CLAIM},
    {claim,
     {"=INSERT 0 0", "[a|other|run"},
     NULL,
     SEQB_UNREACHABLE,
     "seqb_claims is another table",
     CLAIM},
    {claim,
     {"=INSERT 0 0", "[a|file|other"},
     NULL,
     SEQB_UNREACHABLE,
     "again",
     CLAIM},
    {claim,
     {"=INSERT 0 1", "[a|file"},
     NULL,
     SEQB_PROTOCOL,
     "a claim makes no sense",
     CLAIM},
    {claim, {"!42501"}, NULL, SEQB_REFUSED, "42501", CLAIM ROLLBACK},
    {claim_read,
     {"[~|file|run"},
     NULL,
     SEQB_OK,
     "",
     PQ_BEGIN "SELECT main\n" COMMIT},
    {claim_many,
     {"[~|file|run", "=INSERT 0 1", "[b|file|run"},
     NULL,
     SEQB_OK,
     "2 b ",
     MANY},
    {claim_many,
     {"[~|file|run", "!42501"},
     NULL,
     SEQB_REFUSED,
     "42501",
     MANY ROLLBACK},
    {swap,
     {"=UPDATE 1", "[new|file|run"},
     NULL,
     SEQB_OK,
     "new",
     PQ_BEGIN "UPDATE w|new|" IS_SAME "|old\nSELECT w\n" COMMIT},
    {swap_in,
     {"=UPDATE 1", "[new|file|then"},
     NULL,
     SEQB_OK,
     "new",
     PQ_BEGIN "UPDATE w|new|" PQ_STORE "|file|then|old\nSELECT w\n" COMMIT},
    {swap_in,
     {"=UPDATE 0", "[old|file|run"},
     NULL,
     SEQB_FENCED,
     "",
     PQ_BEGIN "UPDATE w|new|" PQ_STORE "|file|then|old\nSELECT w\n" COMMIT},
    {take_cell,
     {"[0|5"},
     NULL,
     SEQB_OK,
     "0 5",
     PQ_BEGIN "UPDATE " CELL "|5|100|3:100:\n" COMMIT},
    {swap_none,
     {"=INSERT 0 0", "[is|file|run"},
     NULL,
     SEQB_OK,
     "is",
     PQ_BEGIN "INSERT w|new|" IS_SAME "\nSELECT w\n" COMMIT},
};

static void begin_row(size_t i)
{
    (void)pq_end(NULL);
    (void)pq_begin_open(NULL);
    pq.commit = rows[i].commit;
    pq_answers(rows[i].answers);
}

TEST_WITH(OPENED, each_call_says_and_tells_what_it_should)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        begin_row(i);
        told[0] = '\0';
        if (rows[i].status != SEQB_OK) {
            assert_fails(rows[i].call(), rows[i].status, rows[i].words);
        } else {
            assert_done(rows[i].call(), failure);
            assert_string_equal(told, rows[i].words);
        }
        if (strcmp(pq.said, rows[i].said) != 0)
            fail_msg("row %zu: %s", i, pq.said);
    }
}

/* Whatever it is that does not come. A description that was not given is
 * none. */
TEST_WITH(OPENED, no_call_succeeds_without_each_of_its_answers)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (rows[i].status != SEQB_OK || rows[i].words[0] == '/')
            continue;
        for (int n = 1;; n++) {
            enum seqb_status status;

            begin_row(i);
            pq.fails = "PQgetResult";
            pq.nth = n;
            status = rows[i].call();
            if (pq.nth > 0)
                break;
            if (status != SEQB_UNREACHABLE && status != SEQB_UNCERTAIN)
                fail_msg("row %zu, answer %d: %s", i, n,
                         seqb_status_name(status));
            assert_fails(rows[i].call(), SEQB_UNREACHABLE, "lost before");
        }
    }
}
