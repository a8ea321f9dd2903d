/* SPDX-License-Identifier: Apache-2.0 */
/* The line of sessions that wait for a sequence: who is served, and when. The
 * sessions here are numbers in a script of what each does when resumed. */
#include <stdbool.h>
#include <string.h>

#include "daemon/waitlist.h"
#include "support/test.h"

#define WAITERS 4

static struct waitlists waitlists;
static struct waitlist waitlist;
static struct waiter waiters[WAITERS];
static char served[32];
static int stock;  /* numbers that those in line find */
static int coming; /* that come, and are told of, when they have found none */

static void lane_start(struct waitlist *made)
{
    memset(made, 0, sizeof *made);
    TAILQ_INIT(&made->line);
    atomic_init(&made->is_ready, false);
}

static int setup(void **state)
{
    (void)state;
    waitlists_init(&waitlists, NULL, -1);
    lane_start(&waitlist);
    memset(waiters, 0, sizeof waiters);
    memset(served, 0, sizeof served);
    for (int i = 0; i < WAITERS; i++)
        waiters[i].session = (struct session *)&waiters[i];
    return 0;
}

#define WAITLIST FIXTURE(void *unused, setup, NULL)

static void resume(struct session *session)
{
    struct waiter *waiter = (struct waiter *)session;

    if (stock == 0) {
        waitlists_join(&waitlists, &waitlist, waiter, true);
        atomic_store(&waitlist.is_ready, coming > 0);
        stock = coming;
        coming = 0;
        return;
    }
    stock--;
    served[strlen(served)] = (char)('a' + (waiter - waiters));
}

static void lane_fill(int count)
{
    stock = count;
    atomic_store(&waitlist.is_ready, true);
    waitlists_serve(&waitlists, resume);
}

static void all_join(void)
{
    for (int i = 0; i < WAITERS; i++)
        waitlists_join(&waitlists, &waitlist, &waiters[i], false);
}

TEST_WITH(WAITLIST, nobody_is_served_before_the_waitlist_is_ready)
{
    all_join();
    stock = WAITERS;
    waitlists_serve(&waitlists, resume);
    assert_string_equal(served, "");
    assert_true(waitlist_has_waiters(&waitlist));
}

TEST_WITH(WAITLIST, those_who_wait_are_served_in_order)
{
    all_join();
    lane_fill(WAITERS);
    assert_string_equal(served, "abcd");
    assert_false(waitlist_has_waiters(&waitlist));
    assert_true(TAILQ_EMPTY(&waitlists.waiting));
}

TEST_WITH(WAITLIST, who_finds_none_stays_first)
{
    all_join();
    lane_fill(2);
    assert_string_equal(served, "ab");
    assert_true(waitlist_has_waiters(&waitlist));
    lane_fill(1);
    lane_fill(1);
    assert_string_equal(served, "abcd");
}

/* The loop was woken once more for it, and looks again. */
TEST_WITH(WAITLIST, what_comes_while_a_waitlist_is_served_is_not_forgotten)
{
    all_join();
    coming = 2;
    lane_fill(1);
    assert_string_equal(served, "a");
    waitlists_serve(&waitlists, resume);
    assert_string_equal(served, "abc");
    waitlists_serve(&waitlists, resume); /* nothing has come since */
    assert_true(waitlist_has_waiters(&waitlist));
}

TEST_WITH(WAITLIST, who_leaves_is_not_served)
{
    all_join();
    waitlists_leave(&waitlists, &waiters[1]);
    waitlists_leave(&waitlists, &waiters[1]);
    lane_fill(WAITERS);
    assert_string_equal(served, "acd");
}

TEST_WITH(WAITLIST, a_waitlist_that_all_have_left_is_not_looked_at)
{
    all_join();
    for (int i = 0; i < WAITERS; i++)
        waitlists_leave(&waitlists, &waiters[i]);
    assert_false(waitlist_has_waiters(&waitlist));
    assert_true(TAILQ_EMPTY(&waitlists.waiting));
}

TEST_WITH(WAITLIST, only_the_waitlist_that_is_ready_is_served)
{
    struct waitlist other;

    lane_start(&other);
    waitlists_join(&waitlists, &other, &waiters[0], false);
    waitlists_join(&waitlists, &waitlist, &waiters[1], false);
    lane_fill(WAITERS);
    assert_string_equal(served, "b");
    assert_true(waitlist_has_waiters(&other));
}

static int resumed;

static void resume_counted(struct session *session)
{
    (void)session;
    resumed++;
}

TEST_WITH(WAITLIST, a_turn_serves_some_and_then_those_of_other_waitlists)
{
    struct waiter many[2 * WAITLISTS_TURNS] = {{.session = NULL}};
    struct waitlist other;

    lane_start(&other);
    for (int i = 0; i < 2 * WAITLISTS_TURNS; i++)
        waitlists_join(&waitlists, &waitlist, &many[i], false);
    waitlists_join(&waitlists, &other, &waiters[0], false);
    atomic_store(&waitlist.is_ready, true);
    atomic_store(&other.is_ready, true);
    resumed = 0;
    assert_true(waitlists_serve(&waitlists, resume_counted));
    assert_int_equal(resumed, WAITLISTS_TURNS);
    assert_true(waitlist_has_waiters(&waitlist)); /* nobody overtakes them */
    assert_true(waitlists_serve(&waitlists, resume_counted));
    assert_false(waitlist_has_waiters(&other));
    while (waitlists_serve(&waitlists, resume_counted)) {
    }
    assert_int_equal(resumed, 2 * WAITLISTS_TURNS + 1);
}

TEST_WITH(WAITLIST, a_key_that_the_library_would_see_cut_is_refused)
{
    static const struct resp_slice keys[] = {
        {"a\0b", 3},
        {"0123456789012345678901234567890123456789"
         "0123456789012345678901234",
         65},
    };

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        struct waitlist *found = NULL;
        struct seqb_error err;

        assert_int_equal(waitlists_find(&waitlists, keys[i], &found, &err),
                         SEQB_INVALID);
        assert_null(found);
    }
}
