/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that must not be used: damaged, copied, put back, of another layout,
 * of a store that changed. Each is refused with a warning and lies aside; then
 * the spool goes on.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "platform/clock.h"
#include "platform/file.h"
#include "platform/text.h"
#include "spool_fixture.h"
#include "support/events.h"
#include "support/test.h"
#include "unit/rig_shapes.h"

#define FILE_MAX ((size_t)1 << 20)

/* The spool works again, whatever was before. */
static void expect_going_on(struct spool_case *c)
{
    spool_case_give(c, spool_case_block("later", 1, 500, 5));
    spool_case_expect(c, 20);
    assert_string_equal(c->taken[0].key, "later");
    spool_case_expect(c, 0);
}

/* --- damage --- */

static void flip_last_byte(const char *path)
{
    const int file = open(path, O_RDWR | O_CLOEXEC);
    struct stat about = {.st_size = 0};
    char byte = '0';

    assert_true(file >= 0 && fstat(file, &about) == 0);
    assert_int_equal(pread(file, &byte, 1, about.st_size - 2), 1);
    byte = byte == '0' ? '1' : '0';
    assert_int_equal(pwrite(file, &byte, 1, about.st_size - 2), 1);
    assert_int_equal(close(file), 0);
}

static void cut(const char *path)
{
    assert_int_equal(truncate(path, 100), 0);
}

static void empty(const char *path)
{
    assert_int_equal(truncate(path, 0), 0);
}

static void replace(const char *path)
{
    static const char text[] = "state_dir=/var/lib/seqbroker\n";

    assert_ok(file_save(path, text, sizeof text - 1, NULL));
}

static void age(const char *path)
{
    const int file = open(path, O_RDWR | O_CLOEXEC);

    assert_true(file >= 0);
    assert_int_equal(pwrite(file, "0", 1, strlen("seqbroker-spool ")), 1);
    assert_int_equal(close(file), 0);
}

/* A block that is in it already, with the first number changed, so that it
 * seems to be another one. */
static void edit(const char *path)
{
    char *bytes;
    char *block;
    size_t size;

    assert_ok(file_load(path, FILE_MAX, &bytes, &size, NULL));
    bytes[size] = '\0';
    block = strstr(bytes, "block ");
    assert_non_null(block);
    block[strlen("block ")]++;
    assert_ok(file_save(path, bytes, size, NULL));
    free(bytes);
}

static const struct {
    const char *name;
    void (*happen)(const char *path);
    const char *words;
} damages[] = {
    {"a flipped byte", flip_last_byte, "damaged"},
    {"cut off", cut, "damaged"},
    {"empty", empty, "no spool"},
    {"something else", replace, "no spool"},
    {"of an old version", age, "version"},
    {"edited by hand", edit, "damaged"},
};

TEST_WITH(SPOOL, damaged_file_is_refused)
{
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        print_message("  %s\n", damages[i].name);
        spool_case_give(c, spool_case_block("order", 0, 10, 5));
        damages[i].happen(c->path);
        events_start();
        spool_case_take(c);
        spool_case_expect_refused(c, damages[i].words);
        expect_going_on(c);
    }
}

/* --- there twice --- */

TEST_WITH(SPOOL, file_put_back_after_it_was_taken_is_refused)
{
    spool_case_give(c, spool_case_block("order", 0, 10, 5));
    spool_case_copy(c->path, spool_case_beside(c, ".backup"));
    spool_case_expect(c, 20);
    spool_case_copy(spool_case_beside(c, ".backup"), c->path);
    events_start();
    spool_case_restart(c);
    spool_case_take(c);
    spool_case_expect_refused(c, "copy");
    expect_going_on(c);
}

/* As an unlink that did not last, or a rename that was undone. */
TEST_WITH(SPOOL, older_state_of_the_file_is_refused)
{
    spool_case_give(c, spool_case_block("order", 0, 10, 5));
    spool_case_copy(c->path, spool_case_beside(c, ".backup"));
    spool_case_give(c, spool_case_block("order", 1, 10, 5));
    spool_case_copy(spool_case_beside(c, ".backup"), c->path);
    events_start();
    spool_case_take(c);
    spool_case_expect_refused(c, "copy");
    expect_going_on(c);
}

/* Two state directories over the same stores: one of them is too late. */
TEST_WITH(SPOOL, copied_folder_yields_nothing_twice)
{
    char path[64];
    struct spool_case other = {
        .rig = c->rig, .choice = SPOOL_TAKE, .memory_bits = SPOOL_MEMORY_BITS};

    spool_case_give(c, spool_case_block("order", 0, 10, 5));
    (void)text_format(path, sizeof path, "%s/copy", c->folder);
    assert_int_equal(mkdir(path, 0700), 0);
    (void)text_format(other.path, sizeof other.path, "%s/spool", path);
    spool_case_copy(c->path, other.path);
    spool_case_open(&other);
    spool_case_expect(&other, 20);
    events_start();
    spool_case_take(c);
    spool_case_expect_refused(c, "copy");
    expect_going_on(c);
    expect_going_on(&other); /* each has a history of its own by now */
    expect_going_on(c);
    spool_case_close(&other);
}

TEST_WITH(SPOOL, file_of_a_broken_exchange_is_refused)
{
    spool_case_give(c, spool_case_block("order", 0, 10, 5));
    /* The ticket is had, and its answer lost. */
    fake_lose_answers(c->rig->stores[0], FAKE_RESERVE, 1);
    assert_int_equal(
        spool_case_try(c, NULL, 0, clock_now_ms() + RIG_PATIENCE_MS),
        SEQB_UNAVAILABLE);
    assert_int_equal(c->taken_count, 0);
    rig_await_use(c->broker, 0);
    events_start();
    spool_case_take(c);
    spool_case_expect_refused(c, "broken off");
    expect_going_on(c);
}

/* What this broker gives is in its hands: a file that has it as well is of
 * another time, though nobody has taken it. */
TEST_WITH(SPOOL, file_with_numbers_in_hand_is_refused)
{
    spool_case_give(c, spool_case_block("order", 0, 10, 5));
    events_start();
    spool_case_give(c, spool_case_block("order", 0, 14, 5));
    spool_case_expect_refused(c, "in hand");
    spool_case_expect(c, 20);
    assert_int_equal(c->taken[0].first,
                     spool_case_block("order", 0, 14, 1).first);
}

/* --- another store --- */

TEST_WITH(SPOOL, store_of_the_ticket_with_another_history_refuses)
{
    spool_case_give(c, spool_case_block("order", 1, 10, 5));
    fake_change_origin(c->rig->stores[0]);
    fake_restart(c->rig->stores[0]);
    events_start();
    spool_case_restart(c);
    spool_case_take(c);
    spool_case_expect_refused(c, "its store changed");
    expect_going_on(c);
}

/* Its counter is back where it was, by chance or by hand. */
TEST_WITH(SPOOL, ticket_of_another_history_is_none)
{
    char id[64];
    char counter[SEQB_COUNTER_SIZE];
    char *bytes;
    size_t size;

    spool_case_give(c, spool_case_block("order", 1, 10, 5));
    assert_ok(file_load(c->path, FILE_MAX, &bytes, &size, NULL));
    (void)text_format(id, sizeof id, "%.32s", strstr(bytes, "\nid ") + 4);
    free(bytes);
    (void)text_format(counter, sizeof counter, "ticket/main/0/%s", id);
    assert_int_equal(fake_value(c->rig->stores[0], counter), 1);
    fake_change_origin(c->rig->stores[0]);
    fake_restart(c->rig->stores[0]);
    spool_case_restart(c);
    fake_put(c->rig->stores[0], counter, 1);
    events_start();
    spool_case_take(c);
    spool_case_expect_refused(c, "its store changed");
    expect_going_on(c);
}

TEST_WITH(SPOOL, numbers_of_a_store_with_another_history_are_lost)
{
    spool_case_give(c, spool_case_block("order", 0, 10, 5));
    spool_case_give(c, spool_case_block("order", 1, 10, 7));
    fake_change_origin(c->rig->stores[1]);
    fake_restart(c->rig->stores[1]);
    events_start();
    spool_case_restart(c);
    spool_case_expect(c, 20);
    assert_int_equal(c->taken[0].first,
                     spool_case_block("order", 0, 10, 1).first);
    events_expect("event=spool_lost numbers=28", "", 1);
    spool_case_expect(c, 0);
}

TEST_WITH(SPOOL, numbers_of_a_store_that_went_back_are_not_kept)
{
    rig_take_from(c->broker, 1, 2000);
    fake_go_back(c->rig->stores[1], 100000);
    rig_take_until(c->broker, 1, SEQB_PARTITION_POISONED);
    events_start();
    spool_case_give(c, spool_case_block("bill", 1, 10, 5));
    events_expect("event=spool_lost numbers=20", "", 1);
    spool_case_expect(c, 0);
}

/* --- another layout --- */

TEST_WITH(SPOOL, file_of_another_layout_is_refused)
{
    spool_case_give(c, spool_case_block("order", 0, 10, 5));
    spool_case_close(c);
    spool_case_copy(c->path, spool_case_beside(c, ".old"));
    /* Other stores, in the same places and with the same origins. */
    for (size_t i = 0; i < 2; i++) {
        fake_store_free(c->rig->stores[i]);
        c->rig->stores[i] = fake_store_new(i == 0 ? "store-0" : "store-1");
    }
    events_start();
    spool_case_open(c);
    spool_case_take(c);
    spool_case_expect_refused(c, "layout");
    expect_going_on(c);
}

TEST_WITH(SPOOL, file_of_another_pool_is_refused)
{
    spool_case_give(c, spool_case_block("order", 0, 10, 5));
    spool_case_close(c);
    for (size_t i = 0; i < 2; i++) {
        fake_store_free(c->rig->stores[i]);
        c->rig->stores[i] = fake_store_new(i == 0 ? "store-0" : "store-1");
    }
    c->rig->pool.layout.name = "other";
    events_start();
    spool_case_open(c);
    spool_case_take(c);
    spool_case_expect_refused(c, "other pools");
    expect_going_on(c);
}

TEST_WITH(SPOOL, numbers_of_pools_in_another_order_are_kept)
{
    struct rig *rig = c->rig;
    struct spool_block other = spool_case_block("bill", 0, 20, 3);

    spool_case_close(c);
    rig_shape(rig, RIG_DIRECT, 2);
    rig_split(rig);
    spool_case_open(c);
    spool_case_give(c, spool_case_block("order", 0, 10, 5));
    other.pool = 1;
    spool_case_give(c, other);
    spool_case_close(c);
    rig_pools[0] = rig_pools[1];
    rig_pools[1] = rig->pool;
    rig->sequences[0].pool = 1;
    spool_case_open(c);
    spool_case_expect(c, 32);
    for (size_t i = 0; i < c->taken_count; i++)
        assert_int_equal(c->taken[i].pool,
                         strcmp(c->taken[i].key, "order") == 0 ? 1 : 0);
    spool_case_expect(c, 0);
    spool_case_close(c);
}

TEST_WITH(SPOOL, numbers_of_other_memory_bits_are_lost)
{
    spool_case_give(c, spool_case_block("order", 0, 10, 5));
    c->memory_bits++;
    events_start();
    spool_case_expect(c, 0);
    events_expect("event=spool_lost numbers=20", "", 1);
    c->memory_bits--;
    spool_case_expect(c, 0);
}

/* --- its own traces --- */

/* What was written aside and not put in place is nobody's. */
TEST_WITH(SPOOL, unfinished_file_is_removed)
{
    const time_t then = time(NULL) - 7200;
    const struct utimbuf old = {then, then};

    spool_case_give(c, spool_case_block("order", 0, 10, 5));
    spool_case_copy(c->path, spool_case_beside(c, ".new-0"));
    spool_case_copy(c->path, spool_case_beside(c, ".new-1"));
    assert_int_equal(utime(spool_case_beside(c, ".new-0"), &old), 0);
    spool_case_expect(c, 20);
    spool_case_expect(c, 0);
    assert_false(spool_case_has(c, ".new-0"));
    assert_true(spool_case_has(c, ".new-1")); /* perhaps another's */
}

/* Sequences are listed by their claims, as for a migration. */
TEST_WITH(SPOOL, ticket_claims_no_sequence)
{
    const int64_t claims = fake_calls(c->rig->stores[0], FAKE_CLAIM);

    spool_case_give(c, spool_case_block("order", 1, 10, 5));
    assert_int_equal(fake_calls(c->rig->stores[0], FAKE_CLAIM), claims);
}
