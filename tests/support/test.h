/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that register themselves, and all of cmocka that a test includes:
 *
 *     TEST(ticks_never_go_back)
 *     {
 *         assert_true(ticks_read() <= ticks_read());
 *     }
 *
 *     #define DIRECT FIXTURE(struct rig *rig, rig_setup_direct, rig_teardown)
 *
 *     TEST_WITH(DIRECT, numbers_never_come_twice)
 *     {
 *         struct rig_broker *broker = rig_open(rig);
 *         ...
 *
 * The tests of a program run in the order in which they are written. The main
 * function is in this library too; with SEQB_TEST_ONLY in the environment it
 * runs only the tests whose names match one of its patterns, as of a shell,
 * with spaces between them. All of this is for the program's main thread.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <seqbroker/status.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

#define assert_status(actual, expected)                                        \
    assert_string_equal(seqb_status_name(actual), seqb_status_name(expected))

#define assert_ok(status) assert_status(status, SEQB_OK)

/* The status is SEQB_OK. Else the test fails with the text of the error, a
 * struct seqb_error that the call may have filled. */
#define assert_done(status, error)                                             \
    do {                                                                       \
        if ((status) != SEQB_OK)                                               \
            fail_msg("%s", (error).text);                                      \
    } while (0)

/* A registered test; static. Only this library writes to it. */
struct test {
    struct CMUnitTest unit;
    const char *file;
    int line;
    struct test *next; /* NULL: the last one */
};

/* What a test needs: the parameter for *state, and cmocka's setup and teardown,
 * each of which may be NULL. */
#define FIXTURE(parameter, setup, teardown) parameter, setup, teardown

/* A test without a fixture. */
#define TEST(name)                                                             \
    static void name(void);                                                    \
    static void run_##name(void **state)                                       \
    {                                                                          \
        (void)state;                                                           \
        name();                                                                \
    }                                                                          \
    TEST_ADD_(name, add_##name, NULL, NULL)                                    \
    static void name(void)

/* A test with a fixture. It need not use the fixture's parameter. */
#define TEST_WITH(fixture, name) TEST_WITH_(name, fixture)

/* The same for a test that makes its state itself, from `void **state`. */
#define TEST_STATE(fixture, name) TEST_STATE_(name, fixture)

/* The same for a test that may be skipped, with a fixture whose setup returns
 * the parameter: it is called within the test, since cmocka cannot skip a test
 * in its setup. */
#define TEST_SKIPPABLE(fixture, name) TEST_SKIPPABLE_(name, fixture)

/* After a test with a fixture: runs the same test with another fixture as
 * well. */
#define TEST_ALSO(fixture, name) TEST_ALSO_(name, __LINE__, fixture)

/* At most once in a program: cmocka's setup before the first test, and its
 * teardown after the last one. */
#define TEST_BEFORE_ALL(function)                                              \
    __attribute__((constructor)) static void before_all(void)                  \
    {                                                                          \
        test_before_all(function);                                             \
    }                                                                          \
    TEST_SEMICOLON_
#define TEST_AFTER_ALL(function)                                               \
    __attribute__((constructor)) static void after_all(void)                   \
    {                                                                          \
        test_after_all(function);                                              \
    }                                                                          \
    TEST_SEMICOLON_

void test_add(struct test *test);
void test_before_all(CMFixtureFunction setup);
void test_after_all(CMFixtureFunction teardown);

/* test_first returns the first registered test, NULL if there is none.
 * test_count returns the number of tests. */
const struct test *test_first(void);
size_t test_count(void);

/* Runs all tests. Returns the number of failed ones, which main returns,
 * too. */
int test_run_all(void);

/* Runs tests as a group; if SEQB_TEST_ONLY is set, only those that match.
 * Returns the number of failed ones. For programs with their own main
 * function. */
int test_run_group(const char *name, const struct CMUnitTest *tests, size_t n,
                   CMFixtureFunction setup, CMFixtureFunction teardown);

/* --- internals of the macros --- */

#define TEST_SEMICOLON_ _Static_assert(1, "a semicolon may follow")

#define TEST_ADD_(name, adder, setup, teardown)                                \
    __attribute__((constructor)) static void adder(void)                       \
    {                                                                          \
        static struct test test = {{#name, run_##name, setup, teardown, NULL}, \
                                   __FILE__,                                   \
                                   __LINE__,                                   \
                                   NULL};                                      \
                                                                               \
        test_add(&test);                                                       \
    }

/* The fixture is three arguments once it is expanded. */
#define TEST_WITH_(name, ...) TEST_TYPED_(name, __VA_ARGS__)
#define TEST_TYPED_(name, parameter, setup, teardown)                          \
    static void name(parameter);                                               \
    static void run_##name(void **state)                                       \
    {                                                                          \
        name(*state);                                                          \
    }                                                                          \
    TEST_ADD_(name, add_##name, setup, teardown)                               \
    static void name(__attribute__((unused)) parameter) /* NOLINT */

#define TEST_SKIPPABLE_(name, ...) TEST_BEGINS_(name, __VA_ARGS__)
#define TEST_BEGINS_(name, parameter, setup, teardown)                         \
    static void name(parameter);                                               \
    static void run_##name(void **state)                                       \
    {                                                                          \
        name(setup(state));                                                    \
    }                                                                          \
    TEST_ADD_(name, add_##name, NULL, teardown)                                \
    static void name(__attribute__((unused)) parameter) /* NOLINT */

#define TEST_STATE_(name, ...) TEST_UNTYPED_(name, __VA_ARGS__)
#define TEST_UNTYPED_(name, parameter, setup, teardown)                        \
    static void name(void **state);                                            \
    static void run_##name(void **state)                                       \
    {                                                                          \
        name(state);                                                           \
    }                                                                          \
    TEST_ADD_(name, add_##name, setup, teardown)                               \
    static void name(void **state)

#define TEST_ALSO_(name, line, ...) TEST_AGAIN_(name, line, __VA_ARGS__)
#define TEST_AGAIN_(name, line, parameter, setup, teardown)                    \
    TEST_ADD_(name, add_##line##_##name, setup, teardown)                      \
    TEST_SEMICOLON_

/* Copies a file as a copy of a disk does: with all attributes, and into the
 * same inode if `to` is there, so that a store does not notice it by its file.
 */
void test_copy_file(const char *from, const char *to);
