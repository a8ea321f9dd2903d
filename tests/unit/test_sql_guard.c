/* SPDX-License-Identifier: Apache-2.0 */
/* The rule of guards. */
#include <stdlib.h>
#include <string.h>

#include "backends/sql/sql.h"
#include "platform/text.h"
#include "support/failure.h"
#include "support/test.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define NOW "run 2"

static struct sql_guards *guards_new(void)
{
    struct sql_guards *guards = calloc(1, sizeof *guards);

    assert_non_null(guards);
    (void)text_copy(guards->incarnation, sizeof guards->incarnation, NOW);
    return guards;
}

static enum seqb_status judge(const struct sql_guards *guards,
                              struct seqb_guard *guard)
{
    struct seqb_error err;

    return sql_guards_check(guards, guard, "here", "counter", &err);
}

TEST(claims_are_named_once_and_in_order)
{
    static const char *const names[] = {"c", "a", "c", "b", "a", "d", "ab"};
    static const char *const sorted[] = {"a", "ab", "b", "c", "d"};
    struct sql_guards *guards = guards_new();

    sql_guards_add(guards, NULL);
    for (size_t i = 0; i < COUNT(names); i++)
        sql_guards_add(guards, &(struct seqb_guard){names[i], "", false});
    assert_int_equal(guards->count, COUNT(sorted));
    for (size_t i = 0; i < COUNT(sorted); i++)
        assert_string_equal(guards->claims[i].name, sorted[i]);
    free(guards);
}

TEST(guard_is_judged_by_what_stands)
{
    static const struct {
        const char *text;
        const char *standing; /* NULL: nothing */
        bool holds;
    } cases[] = {
        {"", NOW, true},          {"a|", "a|" NOW, true},
        {"", NULL, false},        {"", "", false},
        {"", "run 1", false},     {"", "run 22", false},
        {"", "run ", false},      {"a|", NOW, false},
        {"", "a|" NOW, false},    {"a|", "b|" NOW, false},
        {"a|", "a|run 1", false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct sql_guards *guards = guards_new();
        struct seqb_guard guard = {"known", cases[i].text, false};

        sql_guards_add(guards, &guard);
        sql_guards_found(guards, 0, cases[i].standing);
        assert_int_equal(judge(guards, &guard),
                         cases[i].holds ? SEQB_OK : SEQB_FENCED);
        assert_int_equal(guard.has_failed, !cases[i].holds);
        free(guards);
    }
}

TEST(no_guard_holds)
{
    struct sql_guards *guards = guards_new();

    assert_ok(judge(guards, NULL));
    free(guards);
}

/* A claim that nobody read, as after a transaction that failed, is none. */
TEST(claim_that_was_not_read_holds_back)
{
    struct sql_guards *guards = guards_new();
    struct seqb_guard guard = {"known", "", false};

    sql_guards_add(guards, &guard);
    assert_int_equal(judge(guards, &guard), SEQB_FENCED);
    free(guards);
}

/* Each claim that a call names has its place, the last one too. */
TEST(claims_of_a_full_call_stay_in_their_places)
{
    struct sql_guards *guards = guards_new();
    char names[SQL_GUARDS_MAX][8];

    for (size_t i = 0; i < SQL_GUARDS_MAX; i++) {
        (void)text_format(names[i], sizeof names[i], "%04d", (int)i);
        sql_guards_add(guards, &(struct seqb_guard){names[i], "", false});
    }
    assert_int_equal(guards->count, SQL_GUARDS_MAX);
    for (size_t i = 0; i < SQL_GUARDS_MAX; i++)
        assert_string_equal(guards->claims[i].name, names[i]);
    assert_string_equal(guards->incarnation, NOW);
    free(guards);
}

TEST(refusal_says_why_no_guard_can_be_compared)
{
    assert_fails(sql_guard_refuse("here", "counter", "", &failure),
                 SEQB_REFUSED, "open was not asked for it");
    assert_fails(sql_guard_refuse("here", "counter", "x", &failure),
                 SEQB_REFUSED, "is not known: x");
}

/* The longest that fits is compared as a whole; what is longer never holds. */
TEST(longest_claim_is_compared_whole)
{
    char text[SEQB_GUARD_SIZE + 8];
    char standing[SEQB_GUARD_SIZE + 16];

    for (size_t extra = 0; extra < 4; extra++) {
        const size_t length = SEQB_GUARD_SIZE - 1 - strlen(NOW) + extra;
        struct sql_guards *guards = guards_new();
        struct seqb_guard guard = {"known", text, false};

        memset(text, 'a', length);
        text[length] = '\0';
        (void)text_format(standing, sizeof standing, "%s" NOW, text);
        sql_guards_add(guards, &guard);
        sql_guards_found(guards, 0, standing);
        assert_int_equal(judge(guards, &guard),
                         extra == 0 ? SEQB_OK : SEQB_FENCED);
        (void)text_append(standing, sizeof standing, "a");
        sql_guards_found(guards, 0, standing);
        assert_int_equal(judge(guards, &guard), SEQB_FENCED);
        free(guards);
    }
}

TEST(another_incarnation_closes_the_backend)
{
    struct seqb_backend backend = {.incarnation = "run 1"};
    struct seqb_error err;

    assert_ok(sql_incarnation_check(&backend, "run 1", "here", &err));
    assert_int_equal(sql_incarnation_check(&backend, NOW, "here", &err),
                     SEQB_UNREACHABLE);
    assert_int_equal(sql_incarnation_check(&backend, "", "here", &err),
                     SEQB_UNREACHABLE);
    backend.incarnation[0] = '\0';
    assert_ok(sql_incarnation_check(&backend, NOW, "here", &err));
}

TEST(swap_compares_what_it_names)
{
    const struct seqb_backend backend = {.incarnation = "run 1"};
    struct seqb_swap swap = {"known", "", "mine", NULL};
    struct seqb_error err;

    assert_ok(sql_swap_check(&backend, &swap, "run 1", "here", &err));
    assert_int_equal(sql_swap_check(&backend, &swap, NOW, "here", &err),
                     SEQB_UNREACHABLE);
    swap.incarnation = NOW;
    assert_ok(sql_swap_check(&backend, &swap, NOW, "here", &err));
    assert_int_equal(sql_swap_check(&backend, &swap, "run 1", "here", &err),
                     SEQB_FENCED);
}
