/* SPDX-License-Identifier: Apache-2.0 */
/* When the postgres engine takes what it finds for another store's, or for one
 * whose rows something else changes or hides. */
#include "contract/postgres_fixture.h"

#include <string.h>

#include "support/test.h"

/* A database that is copied keeps the names of its files. */
TEST_SKIPPABLE(STARTED, database_made_from_a_template_is_another_incarnation)
{
    char before[SEQB_INCARNATION_SIZE];

    f->options.needs_incarnation = true;
    must_open(f);
    strcpy(before, f->backend->incarnation);
    fixture_close(f);
    postgres_execute(f->server, "postgres", "CREATE DATABASE kept TEMPLATE %s",
                     f->database);
    postgres_execute(f->server, "postgres", "DROP DATABASE %s WITH (FORCE)",
                     f->database);
    postgres_execute(f->server, "postgres", "ALTER DATABASE kept RENAME TO %s",
                     f->database);
    must_open(f);
    assert_string_not_equal(f->backend->incarnation, before);
}

/* Makes the fixture's database again with OID 99999, from a template. */
static void database_make(const struct fixture *f, const char *template)
{
    postgres_execute(f->server, "postgres",
                     "CREATE DATABASE %s OID 99999 TEMPLATE %s", f->database,
                     template);
}

/* The limit that docs/guarantees.md names: the folder of the database is that
 * of the one that was dropped. */
TEST_SKIPPABLE(STARTED, database_with_the_oid_of_a_dropped_one_is_the_same)
{
    char before[SEQB_INCARNATION_SIZE];

    f->options.needs_incarnation = true;
    fixture_close(f);
    postgres_execute(f->server, "postgres", "ALTER DATABASE %s RENAME TO first",
                     f->database);
    database_make(f, "first");
    must_open(f);
    strcpy(before, f->backend->incarnation);
    fixture_close(f);
    postgres_execute(f->server, "postgres", "CREATE DATABASE again TEMPLATE %s",
                     f->database);
    postgres_execute(f->server, "postgres", "DROP DATABASE %s WITH (FORCE)",
                     f->database);
    database_make(f, "again");
    must_open(f);
    assert_string_equal(f->backend->incarnation, before);
}

/* --- claims --- */

/* A lease that was made after the dump, and that somebody holds. */
static void lease_save(struct fixture *f)
{
    assert_ok(swap_worker(f, "", "free"));
    TELL(f, "CREATE TABLE kept_claims AS TABLE seqb_claims");
    TELL(f, "CREATE TABLE kept_counters AS TABLE seqb_counters");
    assert_ok(swap_worker(f, "free", "held"));
}

static void assert_lease(struct fixture *f, const char *expected)
{
    char text[POSTGRES_ASK_SIZE];

    postgres_ask(f->server, f->database, text,
                 "SELECT text FROM seqb_claims WHERE name = 'worker'");
    assert_string_equal(text, expected);
}

TEST_SKIPPABLE(STARTED, claims_put_back_under_a_connection_are_not_swapped)
{
    lease_save(f);
    TELL(f, "TRUNCATE seqb_claims; "
            "INSERT INTO seqb_claims TABLE kept_claims");
    assert_status(swap_worker(f, "free", "taken"), SEQB_UNREACHABLE);
    assert_non_null(strstr(f->err.text, "open it again"));
    assert_lease(f, "free");
    must_open(f);
    assert_ok(swap_worker(f, "free", "taken"));
}

TEST_SKIPPABLE(STARTED, claims_beside_other_counters_are_not_changed)
{
    char count[POSTGRES_ASK_SIZE];

    lease_save(f);
    TELL(f, "TRUNCATE seqb_counters; "
            "INSERT INTO seqb_counters TABLE kept_counters");
    assert_status(swap_worker(f, "held", "taken"), SEQB_UNREACHABLE);
    assert_lease(f, "held");
    must_open(f);
    TELL(f, "TRUNCATE seqb_counters; "
            "INSERT INTO seqb_counters TABLE kept_counters");
    assert_status(claim(f, "layout", "x"), SEQB_UNREACHABLE);
    must_open(f);
    TELL(f, "TRUNCATE seqb_counters; "
            "INSERT INTO seqb_counters TABLE kept_counters");
    assert_status(claim(f, "layout", NULL), SEQB_UNREACHABLE);
    postgres_ask(f->server, f->database, count,
                 "SELECT count(*) FROM seqb_claims WHERE name = 'layout'");
    assert_string_equal(count, "0");
}

/* --- an origin that comes back --- */

static void assert_fenced(struct fixture *f, const char *counter)
{
    struct seqb_request request;

    assert_status(take(f, counter, 1, &request), SEQB_FENCED);
}

/* A store lives elsewhere for a while and returns: what was idle meanwhile
 * still names the first place, what was used and the base name the other. */
TEST_SKIPPABLE(STARTED, store_that_came_back_trusts_no_idle_row)
{
    must_take(f, 100, 0);
    TELL(f, "INSERT INTO seqb_counters VALUES ('main/0/a', 7, 'elsewhere')");
    TELL(f, "UPDATE seqb_counters SET origin = 'elsewhere' WHERE name = ''");
    must_open(f);
    assert_fenced(f, ORDER);
    assert_fenced(f, "main/0/a");
    assert_fenced(f, "main/0/new");
    assert_int_equal(must_raise(f, 0, 1000), 1100);
    must_take(f, 5, 1100);
    must_open(f); /* once only */
    must_take(f, 5, 1105);
}

/* As brokers of two versions may do. */
TEST_SKIPPABLE(STARTED, store_that_others_bound_again_is_opened_again)
{
    struct seqb_request request = {.counter = ORDER, .want = 1, .limit = LIMIT};

    must_take(f, 100, 0);
    TELL(f, "UPDATE seqb_counters SET origin = origin || '#00000000'");
    assert_status(backend_postgres.reserve(f->backend, &request, 1, &f->err),
                  SEQB_UNREACHABLE);
    if (strstr(f->err.text, "open it again") == NULL)
        fail_msg("%s", f->err.text);
    must_open(f);
    must_take(f, 1, 100);
}

/* --- a row that was deleted --- */

/* Whoever comes goes on above all that anybody was granted. */
TEST_SKIPPABLE(STARTED, deleted_row_goes_on_above_its_note)
{
    must_take(f, 100, 0);
    TELL(f, "DELETE FROM seqb_counters WHERE name = '" ORDER "'");
    must_open(f);
    must_take(f, 5, 65536);
    assert_int_equal(must_raise(f, 131070, 1000), 131070);
    must_take(f, 10, 131070);
    TELL(f, "DELETE FROM seqb_counters WHERE name = '" ORDER "'");
    assert_int_equal(must_raise(f, 0, 1000), 196608);
    must_take(f, 5, 196608);
}

/* --- what may change or hide rows --- */

/* Changes nothing that is granted. */
#define KEEP                                                                   \
    "CREATE TRIGGER keep BEFORE DELETE ON seqb_counters "                      \
    "FOR EACH ROW EXECUTE FUNCTION low()"

static void low_make(struct fixture *f)
{
    TELL(f, "CREATE FUNCTION low() RETURNS trigger LANGUAGE plpgsql AS "
            "'BEGIN RETURN NEW; END'");
}

TEST_SKIPPABLE(STARTED, what_may_change_or_hide_rows_is_refused)
{
    static const struct {
        const char *make;
        const char *words;
        const char *end;
    } cases[] = {
        {"CREATE TRIGGER low BEFORE UPDATE ON seqb_counters "
         "FOR EACH ROW EXECUTE FUNCTION low()",
         "trigger low on seqb_counters", "DROP TRIGGER low ON seqb_counters"},
        {"CREATE TRIGGER low BEFORE INSERT ON seqb_claims "
         "FOR EACH ROW EXECUTE FUNCTION low()",
         "trigger low on seqb_claims", "DROP TRIGGER low ON seqb_claims"},
        {"CREATE TRIGGER low AFTER UPDATE ON seqb_counters "
         "FOR EACH STATEMENT EXECUTE FUNCTION low()",
         "trigger low on seqb_counters", "DROP TRIGGER low ON seqb_counters"},
        {"CREATE RULE no AS ON UPDATE TO seqb_counters DO INSTEAD NOTHING",
         "rule no on seqb_counters", "DROP RULE no ON seqb_counters"},
        {"ALTER TABLE seqb_claims ENABLE ROW LEVEL SECURITY, "
         "FORCE ROW LEVEL SECURITY",
         "row-level security of seqb_claims",
         "ALTER TABLE seqb_claims DISABLE ROW LEVEL SECURITY"},
    };

    low_make(f);
    for (size_t i = 0; i < COUNT(cases); i++) {
        TELL(f, "%s", cases[i].make);
        must_not_open(f, SEQB_UNSAFE, cases[i].words);
        TELL(f, "%s", cases[i].end);
        must_open(f);
    }
    TELL(f, "CREATE TRIGGER low BEFORE UPDATE ON seqb_counters "
            "FOR EACH ROW EXECUTE FUNCTION low(); "
            "ALTER TABLE seqb_counters DISABLE TRIGGER low; " KEEP);
    must_open(f);
}

/* KEEP marks the tables at open, and must not hide the next trigger. */
TEST_SKIPPABLE(STARTED, what_is_made_while_connected_changes_nothing)
{
    static const struct {
        const char *make;
        const char *end;
    } cases[] = {
        {"CREATE TRIGGER low AFTER UPDATE ON seqb_counters "
         "FOR EACH ROW EXECUTE FUNCTION low()",
         "DROP TRIGGER low ON seqb_counters"},
        {"CREATE RULE no AS ON UPDATE TO seqb_counters DO INSTEAD NOTHING",
         "DROP RULE no ON seqb_counters"},
        {"ALTER TABLE seqb_counters ENABLE ROW LEVEL SECURITY, "
         "FORCE ROW LEVEL SECURITY",
         "ALTER TABLE seqb_counters DISABLE ROW LEVEL SECURITY"},
    };
    struct seqb_request request;
    int64_t taken = 0;

    low_make(f);
    for (size_t i = 0; i < 2 * COUNT(cases); i++) {
        if (i == COUNT(cases))
            TELL(f, KEEP);
        TELL(f, "VACUUM seqb_counters");
        must_open(f);
        must_take(f, 5, taken);
        taken += 5;
        TELL(f, "%s", cases[i % COUNT(cases)].make);
        assert_status(take(f, ORDER, 1, &request), SEQB_UNREACHABLE);
        assert_non_null(strstr(f->err.text, "open them again"));
        must_not_open(f, SEQB_UNSAFE, " o");
        TELL(f, "%s", cases[i % COUNT(cases)].end);
    }
    must_open(f);
    must_take(f, 5, taken);
}
