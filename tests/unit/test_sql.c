/* SPDX-License-Identifier: Apache-2.0 */
/* The general path of a reserve, step by step. */
#include <string.h>

#include "support/failure.h"
#include "support/test.h"
#include "unit/sql_script.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

TEST_BEFORE_ALL(sql_make);
TEST_AFTER_ALL(sql_drop);

/* --- reservations --- */

static struct seqb_request requests[3];

static enum seqb_status reserve(size_t n, ...)
{
    va_list names;

    va_start(names, n);
    for (size_t i = 0; i < n; i++)
        requests[i] =
            (struct seqb_request){.counter = va_arg(names, const char *),
                                  .want = 5,
                                  .limit = LIMIT,
                                  .window = 77,
                                  .guard = requests[i].guard,
                                  .status = SEQB_LAYOUT};
    va_end(names);
    failure.text[0] = '\0';
    return sql_reserve(&sql->base, requests, n, &failure);
}

static void must_answer(size_t i, enum seqb_status status, const char *words)
{
    assert_status(requests[i].status, status);
    if (status != SEQB_OK)
        assert_string_equal(requests[i].error.text, words);
}

TEST(requests_are_served_in_the_order_of_their_names)
{
    begin_with(&whole);
    script.value = 7;
    assert_ok(reserve(3, "c", "a", "b"));
    must_tell("take a b c;lock a b c;"
              "commit a=12(this store) b=12(this store) c=12(this store);");
    for (size_t i = 0; i < 3; i++) {
        must_answer(i, SEQB_OK, NULL);
        assert_int_equal(requests[i].block.first, 8);
        assert_int_equal(requests[i].block.count, 5);
        assert_int_equal(requests[i].window, SEQB_NO_WINDOW);
    }
    script.is_taken = true; /* the others go the general path */
    assert_ok(reserve(2, "b", "a"));
    must_tell("take a b;lock b;commit b=12(this store);");
    assert_ok(reserve(1, "a"));
    must_tell("take a;");
    begin_with(&least);
    assert_ok(reserve(1, "a"));
    must_tell("lock a;commit a=5(this store);");
}

/* A row that needs a note has it in the same transaction. */
TEST(cell_and_row_are_written_as_what_they_are)
{
    begin_with(&least);
    script.cell = "1:100:" NOW;
    script.used = 98;
    script.value = -1;
    assert_ok(reserve(2, CELL, "main/0/order"));
    must_tell("lock " CELL " main/0/order;commit " CELL "=100(1:100:" NOW
              ") main/0/order=5(this store) @@main/0/order=65536(this store);");
    assert_int_equal(requests[0].window, 1);
    assert_int_equal(requests[0].block.first, 98);
    assert_int_equal(requests[0].block.count, 2);
}

TEST(request_that_the_rule_refuses_gets_nothing)
{
    char name[SEQB_COUNTER_SIZE + 1];

    memset(name, 'a', sizeof name);
    name[SEQB_COUNTER_SIZE] = '\0';
    begin_with(&whole);
    script.value = 7;
    script.damaged = "b";
    assert_ok(reserve(3, "b", "a", name));
    must_tell("take a b;lock a b;commit a=12(this store);");
    must_answer(0, SEQB_CORRUPT,
                "here: counter b: the store is damaged or is none of ours");
    must_answer(1, SEQB_OK, NULL);
    assert_status(requests[2].status, SEQB_INVALID);
    assert_ok(reserve(1, "b")); /* nothing is to be written */
    must_tell("take b;lock b;abandon;");
    script.abandon = (struct answer){SEQB_UNREACHABLE, 1, 0};
    assert_status(reserve(1, "b"), SEQB_UNREACHABLE);
    must_answer(0, SEQB_CORRUPT,
                "here: counter b: the store is damaged or is none of ours");
}

/* --- reservations that fail --- */

/* Of one step, before anything is granted. */
TEST(step_that_fails_is_what_all_requests_are_answered)
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
        {{.take = {SEQB_UNCERTAIN, 1, 0}},
         SEQB_UNCERTAIN,
         "the take failed",
         "take a b;"},
        {{.take = {SEQB_UNCERTAIN, 1, 0},
          .abandon = {SEQB_UNREACHABLE, 1, 0},
          .conflicts = 1},
         SEQB_UNCERTAIN,
         "the take failed",
         "take a b;abandon;"},
        {{.lock = {SEQB_ROLE, 1, 0}},
         SEQB_ROLE,
         "the lock failed",
         "take a b;lock a b;abandon;"},
        {{.lock = {SEQB_ROLE, 1, 0},
          .abandon = {SEQB_UNREACHABLE, 2, 0},
          .conflicts = 1,
          .is_of_row = true},
         SEQB_ROLE,
         "the lock failed",
         "take a b;lock a b;abandon;abandon;"},
        {{.is_rebound = true},
         SEQB_UNREACHABLE,
         "here: the store was bound again by another broker since it was "
         "opened, open it again",
         "take a b;lock a b;abandon;"},
        {{.commit = {SEQB_UNCERTAIN, 1, 0}, .is_of_row = true},
         SEQB_UNCERTAIN,
         "the commit failed",
         "take a b;lock a b;commit a=5(this store) b=5(this store);abandon;"},
        {{.commit = {SEQB_REFUSED, 1, 0}},
         SEQB_REFUSED,
         "the commit failed",
         "take a b;lock a b;commit a=5(this store) b=5(this store);abandon;"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        begin_with(&whole);
        script = cases[i].script;
        script.now = NOW;
        assert_status(reserve(2, "a", "b"), cases[i].status);
        assert_string_equal(failure.text, cases[i].words);
        must_tell(cases[i].told);
        must_answer(0, cases[i].status, cases[i].words);
        must_answer(1, cases[i].status, cases[i].words);
    }
}

/* Without `conflicts` and `blames_row` no failure is tried again. */
TEST(dialect_with_the_least_tries_nothing_again)
{
    begin_with(&least);
    script.lock = (struct answer){SEQB_REFUSED, 1, 0};
    assert_status(reserve(2, "a", "b"), SEQB_REFUSED);
    must_tell("lock a b;abandon;");
}

#define FASTER "nothing was granted, since another node was faster: "

TEST(request_may_come_again_after_another_node_was_faster)
{
    begin_with(&whole);
    assert_ok(reserve(3, "b", "a", "c"));
    begin_with(&whole);
    script.take = (struct answer){SEQB_UNREACHABLE, 1, 0};
    script.conflicts = 1;
    assert_ok(reserve(2, "b", "a"));
    must_answer(2, SEQB_OK, NULL); /* of the call before */
    must_tell("take a b;abandon;");
    must_answer(0, SEQB_AGAIN, "counter b: " FASTER "the take failed");
    must_answer(1, SEQB_AGAIN, "counter a: " FASTER "the take failed");
    script.is_taken = true;
    script.lock = (struct answer){SEQB_UNREACHABLE, 1, 0};
    script.conflicts = 1;
    assert_ok(reserve(2, "b", "a"));
    must_tell("take a b;lock b;abandon;");
    must_answer(0, SEQB_AGAIN, "counter b: " FASTER "the lock failed");
    must_answer(1, SEQB_OK, NULL);
}

/* It has its answer, whatever becomes of the others. */
TEST(request_that_the_rule_refused_is_not_asked_for_again)
{
    for (int is_of_row = 0; is_of_row < 2; is_of_row++) {
        begin_with(&whole);
        script.damaged = "b";
        script.commit = (struct answer){SEQB_REFUSED, 1, 0};
        script.is_of_row = is_of_row == 1;
        script.conflicts = !is_of_row;
        assert_ok(reserve(2, "a", "b"));
        must_tell(is_of_row ? "take a b;lock a b;commit a=5(this store);"
                              "abandon;lock a;commit a=5(this store);"
                            : "take a b;lock a b;commit a=5(this store);"
                              "abandon;");
        assert_status(requests[0].status, is_of_row ? SEQB_OK : SEQB_AGAIN);
        assert_status(requests[1].status, SEQB_CORRUPT);
    }
}

/* A row may be to blame: each request then has a transaction of its own, and
 * the first one is not answered by what came before. */
TEST(request_that_fails_alone_holds_up_no_other)
{
    begin_with(&whole);
    script.failing = "b";
    script.lock = (struct answer){SEQB_REFUSED, 2, 0};
    script.is_of_row = true;
    assert_ok(reserve(3, "c", "b", "a"));
    must_tell("take a b c;lock a b c;abandon;lock a;commit a=5(this store);"
              "lock b;abandon;lock c;commit c=5(this store);");
    must_answer(0, SEQB_OK, NULL);
    must_answer(1, SEQB_REFUSED, "counter b: the lock failed");
    must_answer(2, SEQB_OK, NULL);
}

TEST(requests_behind_a_lost_connection_fail_with_it)
{
    begin_with(&whole);
    script.failing = "b";
    script.lock = (struct answer){SEQB_REFUSED, 2, 0};
    script.abandon = (struct answer){SEQB_UNREACHABLE, 1, 1};
    script.is_of_row = true;
    assert_status(reserve(3, "a", "b", "c"), SEQB_REFUSED);
    must_tell("take a b c;lock a b c;abandon;lock a;commit a=5(this store);"
              "lock b;abandon;");
    must_answer(0, SEQB_OK, NULL);
    must_answer(1, SEQB_REFUSED, "the lock failed");
    must_answer(2, SEQB_REFUSED, "the lock failed");
}

/* --- guards --- */

/* The engine's own statement compares no claims. */
TEST(guarded_request_joins_the_others_behind_the_own_statement)
{
    struct seqb_guard guard = {"known", "", true};

    begin_with(&whole);
    sql->batch.size = 1; /* of an earlier call */
    requests[1].guard = &guard;
    assert_ok(reserve(3, "c", "a", "b"));
    must_tell("take b c;lock |known| a b c;"
              "commit a=5(this store) b=5(this store) c=5(this store);");
    assert_false(guard.has_failed);
    script.standing = "run of another";
    assert_ok(reserve(3, "c", "a", "b"));
    must_tell("take b c;lock |known| a b c;"
              "commit b=5(this store) c=5(this store);");
    assert_status(requests[1].status, SEQB_FENCED);
    assert_true(guard.has_failed);
    script.run = "later"; /* of the whole store: nobody gets anything */
    assert_status(reserve(3, "c", "a", "b"), SEQB_UNREACHABLE);
    must_tell("take b c;lock |known| a b c;abandon;");
    must_answer(0, SEQB_UNREACHABLE, requests[1].error.text);
    assert_ok(reserve(1, "c")); /* who asks for no claim is not told of it */
    must_tell("take c;lock c;commit c=5(this store);");
    sql->base.incarnation[0] = '\0';
    assert_ok(reserve(2, "c", "a"));
    must_tell("take c;lock c;commit c=5(this store);");
    assert_status(requests[1].status, SEQB_REFUSED);
    assert_false(guard.has_failed);
    requests[1].guard = NULL;
}

TEST(guarded_request_may_be_the_only_one_that_is_asked_for)
{
    struct seqb_guard guard = {"known", "", true};
    char name[SEQB_COUNTER_SIZE + 1];

    memset(name, 'a', sizeof name);
    name[SEQB_COUNTER_SIZE] = '\0';
    begin_with(&whole);
    requests[2].guard = &guard;
    assert_ok(reserve(3, name, name, "a"));
    must_tell("lock |known| a;commit a=5(this store);");
    must_answer(2, SEQB_OK, NULL);
    script.is_rebound = true;
    assert_status(reserve(3, name, name, "a"), SEQB_UNREACHABLE);
    must_tell("lock |known| a;abandon;");
    requests[2].guard = NULL;
}

/* --- for the dialects --- */

TEST(cells_are_found_among_counters_and_claims_ordered_by_name)
{
    const struct sql_counter counters[] = {{.name = "a"}, {.name = CELL}};
    const struct seqb_claim claims[] = {{.name = "a"}, {.name = "b"}};
    const struct seqb_claim *first = &claims[0];
    const struct seqb_claim *second = &claims[1];

    assert_true(sql_have_cells(counters, 2));
    assert_true(sql_have_cells(&counters[1], 1));
    assert_false(sql_have_cells(counters, 1));
    assert_true(sql_claim_order(&first, &second) < 0);
    assert_true(sql_claim_order(&second, &first) > 0);
    assert_int_equal(sql_claim_order(&first, &first), 0);
}
