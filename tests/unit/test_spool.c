/* SPDX-License-Identifier: Apache-2.0 */
/* Exchanges with the spool as they go when nothing is wrong with the file. */
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/file.h"
#include "spool_fixture.h"
#include "support/events.h"
#include "support/test.h"

#define NOBODY 65534

TEST_WITH(SPOOL, what_is_given_is_taken_by_the_next_start)
{
    const struct spool_block given = spool_case_block("order", 1, 10, 5);

    spool_case_give(c, given);
    spool_case_restart(c);
    spool_case_expect(c, given.length);
    assert_int_equal(c->taken_count, 1);
    assert_string_equal(c->taken[0].key, "order");
    assert_int_equal(c->taken[0].first, given.first);
    assert_int_equal(c->taken[0].pool, 0);
    assert_int_equal(c->taken[0].memory_bits, SPOOL_MEMORY_BITS);
}

TEST_WITH(SPOOL, what_was_taken_is_not_there_any_more)
{
    spool_case_give(c, spool_case_block("order", 0, 10, 5));
    spool_case_expect(c, 20);
    spool_case_expect(c, 0);
    spool_case_restart(c);
    spool_case_expect(c, 0);
}

TEST_WITH(SPOOL, what_nobody_wants_stays)
{
    spool_case_give(c, spool_case_block("order", 0, 10, 5));
    spool_case_give(c, spool_case_block("bill", 0, 10, 3));
    c->wanted = "bill";
    spool_case_expect(c, 12);
    assert_string_equal(c->taken[0].key, "bill");
    spool_case_expect(c, 0);
    c->wanted = NULL;
    spool_case_expect(c, 20);
}

TEST_WITH(SPOOL, remainder_of_a_run_is_kept_as_it_is)
{
    struct spool_block block = spool_case_block("order", 1, 10, 2);

    block.first += 3; /* its last number, and one of the next run's */
    block.length = 2;
    spool_case_give(c, block);
    spool_case_expect(c, 2);
    assert_int_equal(c->taken[0].first, block.first);
}

TEST_WITH(SPOOL, blocks_that_meet_become_one)
{
    for (int64_t v = 30; v > 10; v -= 5)
        spool_case_give(c, spool_case_block("order", 0, v, 5));
    spool_case_expect(c, 80);
    assert_int_equal(c->taken_count, 1);
    assert_int_equal(c->taken[0].first,
                     spool_case_block("order", 0, 15, 1).first);
}

TEST_WITH(SPOOL, one_exchange_gives_and_takes)
{
    struct spool_block given = spool_case_block("bill", 0, 10, 3);

    spool_case_give(c, spool_case_block("order", 0, 10, 5));
    c->wanted = "order";
    spool_case_take(c);
    assert_int_equal(c->taken_numbers, 20);
    spool_case_give(c, given);
    c->wanted = NULL;
    spool_case_expect(c, 12);
}

TEST_WITH(SPOOL, dropped_block_is_gone)
{
    spool_case_give(c, spool_case_block("order", 0, 10, 5));
    c->choice = SPOOL_DROP;
    spool_case_expect(c, 0);
    c->choice = SPOOL_TAKE;
    spool_case_expect(c, 0);
}

/* A caller on its way to the first number must not pay for a store. */
TEST_WITH(SPOOL, nothing_to_change_asks_no_store)
{
    int64_t calls;

    spool_case_expect(c, 0); /* there is no file */
    assert_int_equal(fake_calls(c->rig->stores[0], FAKE_RESERVE), 0);
    assert_false(spool_case_has(c, ""));
    spool_case_give(c, spool_case_block("order", 0, 10, 5));
    calls = fake_calls(c->rig->stores[0], FAKE_RESERVE);
    c->choice = SPOOL_KEEP;
    spool_case_expect(c, 0);
    assert_int_equal(fake_calls(c->rig->stores[0], FAKE_RESERVE), calls);
}

TEST_WITH(SPOOL, what_cannot_be_is_not_given)
{
    struct spool_block blocks[] = {spool_case_block("order", 0, 10, 5),
                                   spool_case_block("order", 0, 0, 1),
                                   spool_case_block("or/der", 0, 10, 5),
                                   spool_case_block("order", 0, 10, 5)};

    blocks[3].pool = 1;
    for (size_t i = 1; i < 4; i++) {
        assert_int_equal(spool_case_try(c, &blocks[i], 1, INT64_MAX),
                         SEQB_INVALID);
        blocks[1] = blocks[0];
    }
    assert_int_equal(spool_case_try(c, blocks, 2, INT64_MAX), SEQB_INVALID);
    rig_expect_words(c->err.text, "given twice");
    spool_case_expect(c, 0);
}

/* --- stores that are away --- */

TEST_WITH(SPOOL, store_that_is_down_leaves_the_file_as_it_is)
{
    const struct spool_block more = spool_case_block("bill", 1, 10, 3);

    spool_case_give(c, spool_case_block("order", 1, 10, 5));
    fake_set_down(c->rig->stores[0], true); /* that of the file's ticket */
    spool_case_restart(c);
    rig_await_use(c->broker, 1);
    assert_int_equal(
        spool_case_try(c, NULL, 0, clock_now_ms() + RIG_PATIENCE_MS),
        SEQB_UNAVAILABLE);
    rig_expect_words(c->err.text, "b0");
    assert_int_equal(c->taken_count, 0);
    assert_int_equal(
        spool_case_try(c, &more, 1, clock_now_ms() + RIG_PATIENCE_MS),
        SEQB_UNAVAILABLE);
    fake_set_down(c->rig->stores[0], false);
    rig_await_use(c->broker, 0);
    spool_case_expect(c, 20); /* without what could not be given */
}

TEST_WITH(SPOOL, first_file_gets_its_ticket_where_one_is_to_be_had)
{
    fake_set_down(c->rig->stores[0], true);
    spool_case_restart(c);
    spool_case_give(c, spool_case_block("order", 1, 10, 5));
    spool_case_expect(c, 20);
    fake_set_down(c->rig->stores[0], false);
}

/* It has nothing that a ticket could take away. */
TEST_WITH(SPOOL, empty_file_waits_for_no_store)
{
    spool_case_give(c, spool_case_block("order", 1, 10, 5));
    spool_case_expect(c, 20);
    fake_set_down(c->rig->stores[0], true);
    spool_case_restart(c);
    events_start();
    spool_case_give(c, spool_case_block("order", 1, 20, 5));
    spool_case_expect(c, 20);
    assert_int_equal(events_count("spool_refused", ""), 0);
    fake_set_down(c->rig->stores[0], false);
}

TEST_WITH(SPOOL, numbers_of_a_store_that_is_away_stay)
{
    spool_case_give(c, spool_case_block("order", 0, 10, 5));
    spool_case_give(c, spool_case_block("order", 1, 10, 7));
    fake_set_down(c->rig->stores[1], true);
    spool_case_restart(c);
    spool_case_expect(c, 20);
    spool_case_expect(c, 0);
    fake_set_down(c->rig->stores[1], false);
    rig_await_use(c->broker, 1);
    spool_case_expect(c, 28);
}

/* Its origin is known, and yet it may be another store that comes back. */
TEST_WITH(SPOOL, numbers_of_a_store_that_went_away_stay)
{
    spool_case_give(c, spool_case_block("order", 0, 1000, 5));
    spool_case_give(c, spool_case_block("order", 1, 1000, 7));
    fake_set_down(c->rig->stores[1], true);
    rig_take_until(c->broker, 1, SEQB_PARTITION_QUARANTINED);
    spool_case_expect(c, 20);
    fake_set_down(c->rig->stores[1], false);
    rig_await_use(c->broker, 1);
    spool_case_expect(c, 28);
}

TEST_WITH(SPOOL, what_becomes_of_numbers_is_told)
{
    events_start();
    spool_case_give(c, spool_case_block("order", 0, 10, 5));
    spool_case_give(c, spool_case_block("bill", 0, 10, 3));
    events_expect("event=spool taken=0 given=20 kept=20", "", 1);
    events_expect("event=spool taken=0 given=12 kept=32", "", 1);
    spool_case_expect(c, 32);
    events_expect("event=spool taken=32 given=0 kept=0", "", 1);
    assert_int_equal(events_count("event=spool_lost", ""), 0);
    events_stop();
}

/* All that can grant a ticket. */
static void hang(struct rig *rig)
{
    for (size_t i = 0; i < 2; i++)
        fake_hang(rig->stores[i]);
}

static void release(struct rig *rig)
{
    for (size_t i = 0; i < 2; i++)
        fake_release(rig->stores[i]);
}

TEST_WITH(SPOOL, slow_stores_are_not_waited_for_beyond_the_deadline)
{
    const struct spool_block block = spool_case_block("order", 1, 10, 5);
    int32_t within_ms = SPOOL_SOON_MS;

    hang(c->rig);
    /* Longer if this machine was too busy for the store to be asked in time. */
    do {
        assert_true(within_ms < RIG_PATIENCE_MS);
        assert_int_equal(
            spool_case_try(c, &block, 1, clock_now_ms() + within_ms),
            SEQB_UNAVAILABLE);
        within_ms *= 2;
    } while (!fake_wait_for_hanging(c->rig->stores[0], 1, within_ms));
    release(c->rig);
    spool_case_give(c, block);
    spool_case_expect(c, 20);
}

TEST_WITH(SPOOL, broker_that_closes_meanwhile_is_no_trouble)
{
    const struct spool_block block = spool_case_block("order", 1, 10, 5);

    hang(c->rig);
    assert_int_equal(spool_case_try(c, &block, 1, clock_now_ms() + 20),
                     SEQB_UNAVAILABLE);
    release(c->rig);
    spool_case_restart(c); /* with the ticket's answer under way */
    spool_case_give(c, block);
    spool_case_expect(c, 20);
}

/* --- files that cannot be --- */

TEST_WITH(SPOOL, locked_file_is_not_waited_for_beyond_the_deadline)
{
    const struct spool_block block = spool_case_block("order", 1, 10, 5);
    int lock;

    assert_ok(file_lock(spool_case_beside(c, ".lock"), 0, &lock, &c->err));
    assert_int_equal(spool_case_try(c, &block, 1, clock_now_ms() + 20),
                     SEQB_UNAVAILABLE);
    rig_expect_words(c->err.text, "locked");
    file_unlock(lock);
    spool_case_give(c, block);
    spool_case_expect(c, 20);
}

TEST_WITH(SPOOL, forked_child_does_not_keep_it_locked)
{
    const struct spool_block block = spool_case_block("order", 1, 10, 5);
    int pipe_of[2];
    pid_t pid;
    int lock;

    assert_int_equal(pipe(pipe_of), 0);
    assert_ok(file_lock(spool_case_beside(c, ".lock"), 0, &lock, &c->err));
    pid = fork();
    if (pid == 0) {
        char byte;

        (void)close(pipe_of[1]);
        _exit((int)read(pipe_of[0], &byte, 1)); /* until the parent is done */
    }
    file_unlock(lock);
    spool_case_give(c, block);
    (void)close(pipe_of[0]);
    (void)close(pipe_of[1]);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* As a user without privileges, in a child; returns what an exchange says
 * there. The child has no threads: it must not get as far as a store. */
static enum seqb_status try_as_nobody(struct spool_case *c,
                                      const struct spool_block *block)
{
    const pid_t pid = fork();
    int status = 0;

    if (pid == 0)
        _exit(setuid(NOBODY) != 0
                  ? 255
                  : (int)spool_case_try(c, block, block != NULL, 0));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return (enum seqb_status)WEXITSTATUS(status);
}

TEST_WITH(SPOOL, file_that_cannot_be_read_or_made_is_told)
{
    const struct spool_block block = spool_case_block("order", 1, 10, 5);

    if (getuid() != 0)
        skip();
    /* The folder may be entered, but nothing made in it. */
    assert_int_equal(chmod(c->folder, 0711), 0);
    assert_int_equal(try_as_nobody(c, &block), SEQB_STATE_DIR);
    spool_case_give(c, block);
    assert_int_equal(chmod(spool_case_beside(c, ".lock"), 0666), 0);
    assert_int_equal(try_as_nobody(c, NULL), SEQB_STATE_DIR);
    assert_int_equal(chmod(c->path, 0644), 0);
    assert_int_equal(try_as_nobody(c, NULL), SEQB_STATE_DIR);
    spool_case_expect(c, 20); /* and nothing was lost by it */
}

/* No file may grow beyond some bytes. */
static void disk_set_full(bool is_full)
{
    struct rlimit limit;

    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = is_full ? 100 : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

TEST_WITH(SPOOL, full_disk_costs_nothing)
{
    const struct spool_block more = spool_case_block("bill", 1, 10, 5);

    for (int i = 0; i < 2; i++) { /* first there is no file */
        disk_set_full(true);
        (void)spool_case_try(c, &more, 1, clock_now_ms() + RIG_PATIENCE_MS);
        disk_set_full(false);
        assert_int_equal(c->err.status, SEQB_STATE_DIR);
        assert_false(spool_case_has(c, ".new-*"));
        if (i == 0)
            spool_case_give(c, spool_case_block("order", 0, 10, 5));
    }
    spool_case_expect(c, 20);
    spool_case_give(c, more); /* it was still the caller's */
    spool_case_expect(c, 20);
}

TEST_WITH(SPOOL, folder_in_its_place_is_told)
{
    assert_int_equal(mkdir(c->path, 0700), 0);
    assert_int_equal(
        spool_case_try(c, NULL, 0, clock_now_ms() + RIG_PATIENCE_MS),
        SEQB_STATE_DIR);
    assert_int_equal(rmdir(c->path), 0);
}

/* With the longest name that is made of it: ".new-" and an id. */
TEST_WITH(SPOOL, path_that_is_too_long_is_refused)
{
    char path[8192];
    const size_t most = PATH_MAX - 1 - strlen(".new-") - 32;
    struct spool *spool;

    memset(path, 'x', sizeof path - 1);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    assert_int_equal(spool_open(path, c->broker->ha, &spool, &c->err),
                     SEQB_INVALID);
    path[most + 1] = '\0';
    assert_int_equal(spool_open(path, c->broker->ha, &spool, &c->err),
                     SEQB_INVALID);
    path[most] = '\0';
    assert_ok(spool_open(path, c->broker->ha, &spool, &c->err));
    spool_close(spool);
    spool_close(NULL);
}
