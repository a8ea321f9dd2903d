/* SPDX-License-Identifier: Apache-2.0 */
/* What an exchange calls: how long it waits for a lock and for tickets, and
 * what follows if a call fails. Time passes where the test says so. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/file.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "spool_fixture.h"
#include "support/events.h"
#include "support/test.h"
#include "support/wrap.h"

#define START_MS  1000000
#define CALLS_MAX 16

static pthread_t main_thread; /* it exchanges; constant */

/* For this thread. */
static struct {
    int64_t now_ms;        /* 0: time is as it is, and the calls are made */
    int64_t limit_ms;      /* the broker closes */
    enum seqb_status lock; /* what the calls return; after a failure the time
                              until which they wait has passed */
    enum seqb_status ticket;
    int64_t locks[CALLS_MAX]; /* until when they were to wait, from the start */
    size_t lock_count;
    int64_t tickets[CALLS_MAX];
    size_t ticket_count;
    int lacks;       /* which call from now on gets no memory; 0: none */
    int no_chance;   /* the same for random bytes */
    bool is_unmoved; /* a file that is moved may not be there after a crash */
    const char *layout; /* of the pool; NULL: its own */
    bool is_earlier;    /* another layout is of an earlier generation */
} self;

static int note_thread(void **state)
{
    (void)state;
    main_thread = pthread_self();
    return 0;
}
TEST_BEFORE_ALL(note_thread);

static bool is_self(void)
{
    return pthread_equal(pthread_self(), main_thread) != 0;
}

static bool is_played(void)
{
    return is_self() && self.now_ms != 0;
}

static bool is_hit(int *at)
{
    return is_self() && *at > 0 && --*at == 0;
}

WRAPPED(void *, calloc, size_t count, size_t size)
{
    return is_hit(&self.lacks) ? NULL : __real_calloc(count, size);
}

WRAPPED(void *, realloc, void *memory, size_t size)
{
    return is_hit(&self.lacks) ? NULL : __real_realloc(memory, size);
}

WRAPPED(ssize_t, getrandom, void *bytes, size_t size, unsigned flags)
{
    return is_hit(&self.no_chance) ? -1 : __real_getrandom(bytes, size, flags);
}

WRAPPED(int64_t, clock_now_ms, void)
{
    return is_played() ? self.now_ms : __real_clock_now_ms();
}

WRAPPED(void, thread_rest_us, int64_t us)
{
    if (is_played())
        self.now_ms += us / 1000;
    else
        __real_thread_rest_us(us);
}

WRAPPED(int64_t, ha_limit_ms, const struct ha *ha)
{
    return is_played() ? self.limit_ms : __real_ha_limit_ms(ha);
}

WRAPPED(const char *, ha_pool_layout, const struct ha_pool *pool)
{
    return is_self() && self.layout != NULL ? self.layout
                                            : __real_ha_pool_layout(pool);
}

WRAPPED(bool, ha_pool_had_layout, const struct ha_pool *pool, const char *text)
{
    return (is_self() && self.is_earlier) ||
           __real_ha_pool_had_layout(pool, text);
}

/* A call that was to wait so long. */
static enum seqb_status play(enum seqb_status status, int64_t until_ms,
                             int64_t *untils, size_t *count)
{
    assert_true(*count < CALLS_MAX);
    untils[(*count)++] = until_ms - START_MS;
    if (status == SEQB_UNAVAILABLE)
        self.now_ms = until_ms;
    return error_set(&(struct seqb_error){.status = SEQB_OK}, status, "played");
}

WRAPPED(enum seqb_status, file_lock, const char *path, int64_t until_ms,
        int *out, struct seqb_error *err)
{
    if (!is_played() || self.lock == SEQB_OK)
        return __real_file_lock(path, until_ms, out, err);
    err->status = self.lock;
    return play(self.lock, until_ms, self.locks, &self.lock_count);
}

WRAPPED(enum seqb_status, ha_ticket, struct ha *ha, struct ha_place place,
        const char *name, int64_t until_ms, struct ha_ticket *out,
        struct seqb_error *err)
{
    if (!is_played())
        return __real_ha_ticket(ha, place, name, until_ms, out, err);
    err->status = self.ticket;
    return play(self.ticket, until_ms, self.tickets, &self.ticket_count);
}

/* Nothing is played, until a test begins to. */
static void reset(void)
{
    memset(&self, 0, sizeof self);
}

WRAPPED(enum seqb_status, file_move, const char *from, const char *to,
        struct seqb_error *err)
{
    const enum seqb_status status = __real_file_move(from, to, err);

    return is_self() && self.is_unmoved
               ? error_set(err, SEQB_UNCERTAIN, "perhaps not moved")
               : status;
}

static void begin(enum seqb_status lock, enum seqb_status ticket)
{
    reset();
    self.now_ms = START_MS;
    self.limit_ms = INT64_MAX;
    self.lock = lock;
    self.ticket = ticket;
}

static void expect_times(const int64_t *times, size_t count,
                         const int64_t *expected)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(times[i], expected[i]);
    assert_int_equal(expected[count], 0);
}

static enum seqb_status exchange(struct spool_case *c, int64_t within_ms,
                                 bool is_repeated)
{
    const struct spool_block block = spool_case_block("bill", 1, 10, 5);
    const struct spool_exchange_options options = {
        .give = &block, .give_count = 1, .is_repeated = is_repeated};

    return spool_exchange(c->spool, &options, START_MS + within_ms, &c->err);
}

/* A broker that closes looks for it every 50 ms. */
TEST_WITH(SPOOL, lock_is_waited_for_until_the_deadline_or_the_close)
{
    static const struct {
        int64_t within_ms;
        int64_t limit_ms;
        int64_t untils[4];
    } cases[] = {
        {120, 1000, {50, 100, 120, 0}}, {100, 1000, {50, 100, 0, 0}},
        {1000, 50, {50, 0, 0, 0}},      {1000, 51, {50, 100, 0, 0}},
        {30, 1000, {30, 0, 0, 0}},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin(SEQB_UNAVAILABLE, SEQB_OK);
        self.limit_ms = START_MS + cases[i].limit_ms;
        assert_status(exchange(c, cases[i].within_ms, false), SEQB_UNAVAILABLE);
        expect_times(self.locks, self.lock_count, cases[i].untils);
    }
    begin(SEQB_STATE_DIR, SEQB_OK);
    assert_status(exchange(c, 120, true), SEQB_STATE_DIR);
    expect_times(self.locks, self.lock_count, (int64_t[]){50, 0});
}

/* Both stores hang. Either is waited for shortly, and then for its part of what
 * is left. */
TEST_WITH(SPOOL, stores_share_the_time_for_a_ticket)
{
    begin(SEQB_OK, SEQB_UNAVAILABLE);
    assert_status(exchange(c, 10000, false), SEQB_UNAVAILABLE);
    expect_times(self.tickets, self.ticket_count,
                 (int64_t[]){250, 500, 500 + 4750, 10000, 0});
    begin(SEQB_OK, SEQB_UNAVAILABLE);
    assert_status(exchange(c, 300, false), SEQB_UNAVAILABLE);
    expect_times(self.tickets, self.ticket_count,
                 (int64_t[]){150, 300, 300, 300, 0});
    begin(SEQB_OK, SEQB_LAYOUT); /* they answer */
    assert_status(exchange(c, 10000, true), SEQB_LAYOUT);
    expect_times(self.tickets, self.ticket_count, (int64_t[]){250, 250, 0});
}

/* Only the store of its ticket can grant the next one. If there is nothing in
 * it, another file does as well. */
TEST_WITH(SPOOL, store_of_a_file_is_waited_for_as_long_as_it_is_needed)
{
    reset();
    spool_case_give(c, spool_case_block("order", 0, 10, 5));
    begin(SEQB_OK, SEQB_UNAVAILABLE);
    assert_status(exchange(c, 10000, false), SEQB_UNAVAILABLE);
    expect_times(self.tickets, self.ticket_count, (int64_t[]){10000, 0});
    assert_false(spool_case_has(c, ".new-*"));
    reset();
    spool_case_expect(c, 20);
    begin(SEQB_OK, SEQB_UNAVAILABLE);
    assert_status(exchange(c, 400, false), SEQB_UNAVAILABLE);
    expect_times(self.tickets, self.ticket_count,
                 (int64_t[]){200, 200 + 100, 400, 400, 400, 0});
    assert_false(spool_case_has(c, ".refused"));
}

/* Every 20 ms, if it is to be repeated. */
TEST_WITH(SPOOL, exchange_is_repeated_while_there_is_time)
{
    begin(SEQB_UNAVAILABLE, SEQB_OK);
    self.limit_ms = START_MS;
    assert_status(exchange(c, 140, true), SEQB_UNAVAILABLE);
    expect_times(self.locks, self.lock_count, (int64_t[]){50, 120, 140, 0});
    begin(SEQB_UNAVAILABLE, SEQB_OK);
    self.limit_ms = START_MS;
    assert_status(exchange(c, 140, false), SEQB_UNAVAILABLE);
    expect_times(self.locks, self.lock_count, (int64_t[]){50, 0});
}

/* Whichever call it is for. What was to be given is still the caller's, and
 * what was kept stays. */
TEST_WITH(SPOOL, exchange_without_memory_changes_nothing)
{
    const struct spool_block more = spool_case_block("bill", 1, 10, 3);
    enum seqb_status status = SEQB_NO_MEMORY;
    struct spool *other;
    int failed = 0;

    reset();
    self.lacks = 1;
    assert_status(spool_open(c->path, c->broker->ha, &other, &c->err),
                  SEQB_NO_MEMORY);
    spool_case_give(c, spool_case_block("order", 0, 10, 5));
    events_start();
    for (int i = 1; status != SEQB_OK; i++) {
        self.lacks = i;
        status = spool_case_try(c, &more, 1, clock_now_ms() + RIG_PATIENCE_MS);
        failed += status != SEQB_OK;
        assert_true(status == SEQB_OK || c->err.status == status);
    }
    self.lacks = 0;
    assert_true(failed >= 6);
    assert_int_equal(events_count("event=spool_refused", ""), 0);
    spool_case_expect(c, 20 + 12);
}

TEST_WITH(SPOOL, exchange_without_random_bytes_fails)
{
    reset();
    for (int i = 1; i <= 2; i++) { /* the name of a new file, and its id */
        self.no_chance = i;
        assert_status(exchange(c, INT64_MAX / 2, false), SEQB_NO_MEMORY);
        rig_expect_words(c->err.text, "no random bytes");
        assert_false(spool_case_has(c, ""));
    }
}

/* Of the first file, and of one that replaces another. */
TEST_WITH(SPOOL, nothing_is_taken_of_an_exchange_that_is_uncertain)
{
    const struct spool_block block = spool_case_block("order", 0, 10, 5);

    reset();
    self.is_unmoved = true;
    assert_status(spool_case_try(c, &block, 1, INT64_MAX), SEQB_UNCERTAIN);
    assert_status(spool_case_try(c, NULL, 0, INT64_MAX), SEQB_UNCERTAIN);
    rig_expect_words(c->err.text, "perhaps not moved");
    assert_int_equal(c->taken_count, 0);
    self.is_unmoved = false;
    spool_case_expect(c, 0); /* they are lost */
}

/* A migration makes one, and nothing is wrong then. */
TEST_WITH(SPOOL, file_of_another_generation_is_refused_without_a_warning)
{
    static const char *const lines[] = {"warn event=spool_refused",
                                        "info event=spool_refused"};
    static const char *const reasons[] = {"it is of other pools",
                                          "it is of an earlier generation"};

    reset();
    for (int i = 0; i < 2; i++) {
        self.layout = NULL;
        spool_case_give(c, spool_case_block("order", 0, 10, 5));
        self.layout = "pool=main;another";
        self.is_earlier = i == 1;
        events_start();
        spool_case_expect(c, 0);
        assert_int_equal(events_count(lines[i], reasons[i]), 1);
    }
    reset();
}
