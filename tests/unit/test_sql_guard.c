/* SPDX-License-Identifier: Apache-2.0 */
/* The rule of guards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/sql/sql.h"
#include "platform/text.h"

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

    return sql_guards_judge(guards, guard, "here", "counter", &err);
}

static void claims_are_named_once_and_in_order(void **state)
{
    static const char *const names[] = {"c", "a", "c", "b", "a", "d", "ab"};
    static const char *const sorted[] = {"a", "ab", "b", "c", "d"};
    struct sql_guards *guards = guards_new();

    (void)state;
    sql_guards_add(guards, NULL);
    for (size_t i = 0; i < COUNT(names); i++)
        sql_guards_add(guards, &(struct seqb_guard){names[i], "", false});
    assert_int_equal(guards->count, COUNT(sorted));
    for (size_t i = 0; i < COUNT(sorted); i++)
        assert_string_equal(guards->claims[i].name, sorted[i]);
    free(guards);
}

static void guard_is_judged_by_what_stands(void **state)
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

    (void)state;
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

static void no_guard_holds(void **state)
{
    struct sql_guards *guards = guards_new();

    (void)state;
    assert_int_equal(judge(guards, NULL), SEQB_OK);
    free(guards);
}

/* A claim that nobody read, as after a transaction that failed, is none. */
static void claim_that_was_not_read_holds_back(void **state)
{
    struct sql_guards *guards = guards_new();
    struct seqb_guard guard = {"known", "", false};

    (void)state;
    sql_guards_add(guards, &guard);
    assert_int_equal(judge(guards, &guard), SEQB_FENCED);
    free(guards);
}

/* The longest that fits is compared as a whole; what is longer never holds. */
static void longest_claim_is_compared_whole(void **state)
{
    char text[SEQB_GUARD_SIZE + 8];
    char standing[SEQB_GUARD_SIZE + 16];

    (void)state;
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
        free(guards);
    }
}

static void another_incarnation_closes_the_backend(void **state)
{
    struct seqb_backend backend = {.incarnation = "run 1"};
    struct seqb_error err;

    (void)state;
    assert_int_equal(sql_incarnation_check(&backend, "run 1", "here", &err),
                     SEQB_OK);
    assert_int_equal(sql_incarnation_check(&backend, NOW, "here", &err),
                     SEQB_UNREACHABLE);
    assert_int_equal(sql_incarnation_check(&backend, "", "here", &err),
                     SEQB_UNREACHABLE);
    backend.incarnation[0] = '\0';
    assert_int_equal(sql_incarnation_check(&backend, NOW, "here", &err),
                     SEQB_OK);
}

static void swap_compares_what_it_names(void **state)
{
    const struct seqb_backend backend = {.incarnation = "run 1"};
    struct seqb_swap swap = {"known", "", "mine", NULL};
    struct seqb_error err;

    (void)state;
    assert_int_equal(sql_swap_check(&backend, &swap, "run 1", "here", &err),
                     SEQB_OK);
    assert_int_equal(sql_swap_check(&backend, &swap, NOW, "here", &err),
                     SEQB_UNREACHABLE);
    swap.incarnation = NOW;
    assert_int_equal(sql_swap_check(&backend, &swap, NOW, "here", &err),
                     SEQB_OK);
    assert_int_equal(sql_swap_check(&backend, &swap, "run 1", "here", &err),
                     SEQB_FENCED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_are_named_once_and_in_order),
        cmocka_unit_test(guard_is_judged_by_what_stands),
        cmocka_unit_test(no_guard_holds),
        cmocka_unit_test(claim_that_was_not_read_holds_back),
        cmocka_unit_test(longest_claim_is_compared_whole),
        cmocka_unit_test(another_incarnation_closes_the_backend),
        cmocka_unit_test(swap_compares_what_it_names),
    };

    return cmocka_run_group_tests_name("sql_guard", tests, NULL, NULL);
}
