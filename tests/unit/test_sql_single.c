/* SPDX-License-Identifier: Apache-2.0 */
/* Windows and raises on the general path, step by step. */
#include <string.h>

#include "support/failure.h"
#include "support/test.h"
#include "unit/sql_script.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

TEST_BEFORE_ALL(sql_make);
TEST_AFTER_ALL(sql_drop);

/* --- windows --- */

static int64_t standing;
static int64_t taken;

static enum seqb_status install(const char *name, int64_t window, int64_t over)
{
    const struct seqb_window asked = {.counter = name,
                                      .window = window,
                                      .size = LIMIT,
                                      .over = over,
                                      .take = 9,
                                      .taken = &taken};

    standing = window;
    taken = 0;
    failure.text[0] = '\0';
    return sql_install(&sql->base, &asked, &standing, &failure);
}

static void must_install(const char *told, int64_t window, int64_t took)
{
    must_tell(told);
    assert_int_equal(standing, window);
    assert_int_equal(taken, took);
}

#define WRITTEN "lock " CELL ";commit " CELL "=9(8:100:" NOW ");"

TEST(window_is_put_where_none_with_values_stands)
{
    begin_with(&whole);
    sql->guards.count = 1; /* of an earlier call */
    script.cell = "7:100:" NOW;
    script.used = LIMIT;
    assert_ok(install(CELL, 8, 0));
    must_install(WRITTEN, 8, 9);
    script.used = LIMIT - 1; /* somebody was faster */
    assert_ok(install(CELL, 8, 0));
    must_install("lock " CELL ";abandon;", 7, 0);
    script.used = LIMIT;
    assert_status(install(CELL, 7, 0), SEQB_FENCED);
    assert_string_equal(failure.text,
                        "here: counter " CELL ": a later window stands");
    must_install("lock " CELL ";abandon;", 7, 0);
}

TEST(own_statement_replaces_a_window_that_was_seen)
{
    begin_with(&whole);
    script.cell = "7:100:" NOW;
    script.is_renewed = true;
    assert_ok(install(CELL, 8, 7));
    must_install("renew 8;", 8, 9);
    assert_ok(install(CELL, 8, 1));
    must_install("renew 8;", 8, 9);
    script.used =
        LIMIT; /* there is none to be replaced: 0, or no earlier one */
    assert_ok(install(CELL, 8, 0));
    must_install(WRITTEN, 8, 9);
    assert_ok(install(CELL, 8, -1));
    must_install(WRITTEN, 8, 9);
    assert_ok(install(CELL, 8, 8));
    must_install(WRITTEN, 8, 9);
    script.is_renewed = false; /* it was another one */
    assert_ok(install(CELL, 8, 7));
    must_install("renew 8;" WRITTEN, 8, 9);
    begin_with(&least);
    assert_ok(install(CELL, 8, 7));
    must_install(WRITTEN, 8, 9);
}

TEST(window_that_is_not_surely_there_is_not_taken_from)
{
    static const struct {
        struct script script;
        enum seqb_status status;
        const char *words;
        const char *told;
    } cases[] = {
        {{.begin = {SEQB_UNREACHABLE, 1, 0}},
         SEQB_UNREACHABLE,
         "the begin failed",
         ""},
        {{.renew = {SEQB_UNCERTAIN, 1, 0}},
         SEQB_UNCERTAIN,
         "the renewal failed",
         "renew 8;abandon;"},
        {{.lock = {SEQB_ROLE, 1, 0}},
         SEQB_ROLE,
         "the lock failed",
         "renew 8;lock " CELL ";abandon;"},
        {{.is_rebound = true},
         SEQB_UNREACHABLE,
         "here: the store was bound again by another broker since it was "
         "opened, open it again",
         "renew 8;lock " CELL ";abandon;"},
        {{.now = ""},
         SEQB_REFUSED,
         "here: the store does not keep its incarnation",
         "renew 8;lock " CELL ";abandon;"},
        {{.commit = {SEQB_UNCERTAIN, 1, 0}},
         SEQB_UNCERTAIN,
         "the commit failed",
         "renew 8;" WRITTEN "abandon;"},
        {{.renew = {SEQB_UNREACHABLE, 1, 0}, .conflicts = 1},
         SEQB_OK,
         "",
         "renew 8;abandon;" WRITTEN},
        {{.lock = {SEQB_UNREACHABLE, 3, 0}, .conflicts = 2},
         SEQB_UNREACHABLE,
         "the lock failed",
         "renew 8;lock " CELL ";abandon;lock " CELL ";abandon;lock " CELL
         ";abandon;"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        begin_with(&whole);
        script = cases[i].script;
        if (script.now == NULL)
            script.now = NOW;
        assert_status(install(CELL, 8, 7), cases[i].status);
        if (cases[i].status != SEQB_OK)
            assert_string_equal(failure.text, cases[i].words);
        must_install(cases[i].told, 8, cases[i].status == SEQB_OK ? 9 : 0);
    }
}

TEST(only_a_cell_has_windows)
{
    char name[SEQB_COUNTER_SIZE + 1] = CELL;

    begin_with(&whole);
    assert_status(install("main/0/order", 8, 7), SEQB_INVALID);
    assert_string_equal(failure.text,
                        "here: counter main/0/order: counts in no windows");
    memset(name + strlen(CELL), 'a', sizeof name - strlen(CELL));
    name[SEQB_COUNTER_SIZE] = '\0';
    assert_status(install(name, 8, 7), SEQB_INVALID);
    must_tell("");
}

/* --- raises --- */

static enum seqb_status raise_to(const char *name, int64_t floor,
                                 struct seqb_guard *guard, int64_t *out)
{
    static int64_t before;
    const struct seqb_raise raise = {.counter = name,
                                     .floor = floor,
                                     .limit = LIMIT,
                                     .guard = guard,
                                     .before = &before};
    enum seqb_status status;

    before = -1;
    *out = -1;
    failure.text[0] = '\0';
    status = sql_raise(&sql->base, &raise, out, &failure);
    if (status == SEQB_OK && !sql_name_is_cell(name))
        assert_int_equal(before, script.value > 0 ? script.value : 0);
    return status;
}

TEST(raise_writes_what_is_higher)
{
    int64_t out;

    begin_with(&whole);
    sql->guards.count = 1;
    script.value = 7;
    assert_ok(raise_to("a@1", 50, NULL, &out));
    assert_int_equal(out, 50);
    must_tell("lock a@1;commit a@1=50(this store);");
    script.value = -1; /* it begins at the base, 0 */
    assert_ok(raise_to("a@1", 50, NULL, &out));
    must_tell("lock a@1;commit a@1=50(this store);");
    script.value = 7;
    assert_status(raise_to("a@1", LIMIT + 1, NULL, &out), SEQB_EXHAUSTED);
    assert_string_equal(failure.text,
                        "here: counter a@1: no value is left below its limit");
    must_tell("lock a@1;abandon;");
    script.cell = "7:100:" NOW;
    sql->guards.count = 1;
    assert_ok(raise_to(CELL, 6, NULL, &out));
    assert_int_equal(out, 7);
    must_tell("lock " CELL ";abandon;");
    assert_ok(raise_to(CELL, 7, NULL, &out));
    assert_int_equal(out, 7);
    must_tell("lock " CELL ";commit " CELL "=0(0:0:);");
    begin_with(&least);
    assert_ok(raise_to("a@1", 50, NULL, &out));
    must_tell("lock a@1;commit a@1=50(this store);");
}

TEST(raise_compares_the_claim_of_its_guard)
{
    struct seqb_guard guard = {"known", "", true};
    int64_t out;

    begin_with(&whole);
    assert_ok(raise_to("a@1", 50, &guard, &out));
    must_tell("lock |known| a@1;commit a@1=50(this store);");
    assert_false(guard.has_failed);
    script.standing = "run of another";
    assert_status(raise_to("a@1", 50, &guard, &out), SEQB_FENCED);
    assert_true(guard.has_failed);
    must_tell("lock |known| a@1;abandon;");
    script.run = "later";
    assert_status(raise_to("a@1", 50, &guard, &out), SEQB_UNREACHABLE);
    assert_false(guard.has_failed);
    must_tell("lock |known| a@1;abandon;");
    sql->base.incarnation[0] = '\0';
    assert_status(raise_to("a@1", 50, &guard, &out), SEQB_REFUSED);
    must_tell("");
    assert_ok(raise_to("a@1", 50, NULL, &out));
    assert_int_equal(out, 50);
}

/* Sixteen more times, of which each began anew. */
TEST(raise_is_tried_again_while_another_node_is_faster)
{
    char name[SEQB_COUNTER_SIZE + 1];
    int64_t out;

    for (int times = 16; times <= 17; times++) {
        begin_with(&whole);
        script.lock = (struct answer){SEQB_UNREACHABLE, times, 0};
        script.conflicts = times;
        assert_status(raise_to("a@1", 50, NULL, &out),
                      times == 16 ? SEQB_OK : SEQB_UNREACHABLE);
        begin_with(&whole);
        script.lock = (struct answer){SEQB_UNREACHABLE, times, 0};
        script.conflicts = times;
        assert_status(install(CELL, 8, 0),
                      times == 16 ? SEQB_OK : SEQB_UNREACHABLE);
    }
    for (int is_cell = 0; is_cell < 2; is_cell++) {
        const char *counter = is_cell ? CELL : "a@1";

        begin_with(&whole);
        script.commit = (struct answer){SEQB_UNCERTAIN, 1, 0};
        assert_status(raise_to(counter, 50, NULL, &out), SEQB_UNCERTAIN);
        assert_int_equal(out, -1);
        script.lock = (struct answer){SEQB_ROLE, 1, 0};
        assert_status(raise_to(counter, 50, NULL, &out), SEQB_ROLE);
        assert_string_equal(failure.text, "the lock failed");
        script.is_rebound = true;
        assert_status(raise_to(counter, 50, NULL, &out), SEQB_UNREACHABLE);
        script.told[0] = '\0';
        script.begin = (struct answer){SEQB_FORKED, 1, 0};
        assert_status(raise_to(counter, 50, NULL, &out), SEQB_FORKED);
        must_tell("");
    }
    memset(name, 'a', sizeof name);
    name[SEQB_COUNTER_SIZE] = '\0';
    assert_status(raise_to(name, 50, NULL, &out), SEQB_INVALID);
    must_tell("");
}
