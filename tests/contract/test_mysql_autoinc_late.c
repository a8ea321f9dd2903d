/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of mysql-autoinc that run out of time: what is left of one is put off,
 * and what was served stays so. The clock is the machine's, and leaps when the
 * test says. */
#include "contract/mysql_fixture.h"

#include <string.h>

#include "platform/text.h"
#include "support/test.h"

/* More than one transaction serves. */
#define MANY 259

/* No call asks for the time as often as that. */
#define LOOKS_MOST 5000

static int looks;       /* since the clock was set up */
static int64_t leap_ms; /* 0: none; from the second look on */

int64_t __real_clock_now_ms(void);
int64_t __wrap_clock_now_ms(void);

/* The first look of a call begins it; at the second one half of its time is
 * over. */
int64_t __wrap_clock_now_ms(void)
{
    if (leap_ms == 0)
        return __real_clock_now_ms();
    if (++looks > LOOKS_MOST)
        fail_msg("the call does not end");
    return __real_clock_now_ms() + (looks > 1 ? leap_ms : 0);
}

static enum seqb_status reserve_late(struct fixture *f,
                                     struct seqb_request *requests, size_t n)
{
    enum seqb_status status;

    looks = 0;
    leap_ms = f->options.timeout_ms / 2;
    status = f->ops->reserve(f->backend, requests, n, &f->err);
    leap_ms = 0;
    return status;
}

static void must_be_granted(const struct seqb_request *request, int64_t value)
{
    assert_ok(request->status);
    assert_int_equal(request->block.first, value);
    assert_int_equal(request->block.count, 1);
}

static void must_be_put_off(const struct seqb_request *request)
{
    assert_status(request->status, SEQB_AGAIN);
    assert_status(request->error.status, SEQB_AGAIN);
    assert_non_null(strstr(request->error.text, request->counter));
    assert_non_null(strstr(request->error.text, "no time was left"));
}

/* A call that is late makes one table; those that are there are served. */
TEST_SKIPPABLE(ON_AUTOINC, late_call_serves_one_more_and_puts_off_the_others)
{
    static char names[MANY][SEQB_COUNTER_SIZE];
    static struct seqb_request requests[MANY];

    for (size_t i = 0; i < MANY; i++) {
        (void)text_format(names[i], sizeof names[i], "main/0/%zu", i);
        requests[i] = (struct seqb_request){
            .counter = names[i], .want = 1, .limit = LIMIT};
    }
    assert_ok(reserve_late(f, requests, MANY));
    must_be_granted(&requests[0], 1);
    for (size_t i = 1; i < MANY; i++)
        must_be_put_off(&requests[i]);
    assert_ok(reserve_late(f, requests, MANY));
    must_be_granted(&requests[0], 2);
    must_be_granted(&requests[1], 1);
    for (size_t i = 2; i < MANY; i++)
        must_be_put_off(&requests[i]);
    assert_int_equal(number(f, "SELECT COUNT(*) FROM seqb_counters "
                               "WHERE name LIKE 'main/0/%'"),
                     2);
}

TEST_SKIPPABLE(ON_AUTOINC, call_in_time_serves_all)
{
    static const char *const names[] = {"main/0/b", "main/0/c", "main/0/a"};
    struct seqb_request requests[COUNT(names)];

    for (size_t i = 0; i < COUNT(names); i++)
        requests[i] = (struct seqb_request){
            .counter = names[i], .want = 1, .limit = LIMIT};
    assert_ok(f->ops->reserve(f->backend, requests, COUNT(names), &f->err));
    for (size_t i = 0; i < COUNT(names); i++)
        assert_ok(requests[i].status);
}

TEST_BEFORE_ALL(without_sigpipe);
