/* SPDX-License-Identifier: Apache-2.0 */
/* The tests that registered themselves, and the group that is made of them. */
#include "support/test.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    struct test *first;
    size_t count;
    CMFixtureFunction setup;
    CMFixtureFunction teardown;
} all;

static bool is_later(const struct test *test, const struct test *than)
{
    return test->line > than->line && strcmp(test->file, than->file) == 0;
}

/* The compiler calls the constructors of a file in any order. */
void test_add(struct test *test)
{
    struct test **at = &all.first;

    while (*at != NULL && !is_later(*at, test))
        at = &(*at)->next;
    test->next = *at;
    *at = test;
    all.count++;
}

size_t test_count(void)
{
    return all.count;
}

const struct test *test_first(void)
{
    return all.first;
}

void test_before_all(CMFixtureFunction setup)
{
    all.setup = setup;
}

void test_after_all(CMFixtureFunction teardown)
{
    all.teardown = teardown;
}

/* Whether `name` is like one of `patterns`, between which are spaces. */
static bool is_wanted(const char *name, const char *patterns)
{
    char *copy = strdup(patterns);
    char *rest = NULL;
    bool is = false;

    for (char *one = copy == NULL ? NULL : strtok_r(copy, " ", &rest);
         one != NULL && !is; one = strtok_r(NULL, " ", &rest))
        is = fnmatch(one, name, 0) == 0;
    free(copy);
    return is;
}

int test_run_group(const char *name, const struct CMUnitTest *tests, size_t n,
                   CMFixtureFunction setup, CMFixtureFunction teardown)
{
    const char *only = getenv("SEQB_TEST_ONLY");
    struct CMUnitTest *wanted = calloc(n + 1, sizeof *wanted);
    size_t count = 0;
    int failed;

    if (wanted == NULL) {
        fputs("no memory for the list of tests\n", stderr);
        return EXIT_FAILURE;
    }
    for (size_t i = 0; i < n; i++) {
        if (only == NULL || is_wanted(tests[i].name, only))
            wanted[count++] = tests[i];
    }
    failed = _cmocka_run_group_tests(name, wanted, count, setup, teardown);
    free(wanted);
    return failed;
}

int test_run_all(void)
{
    struct CMUnitTest *tests = calloc(all.count + 1, sizeof *tests);
    size_t n = 0;
    int failed;

    if (tests == NULL) {
        fputs("no memory for the list of tests\n", stderr);
        return EXIT_FAILURE;
    }
    for (const struct test *test = all.first; test != NULL; test = test->next)
        tests[n++] = test->unit;
    failed = test_run_group(program_invocation_short_name, tests, n, all.setup,
                            all.teardown);
    free(tests);
    return failed;
}

void test_copy_file(const char *from, const char *to)
{
    int ended;
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        (void)execlp("cp", "cp", "-a", from, to, (char *)NULL);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
}
