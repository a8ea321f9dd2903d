/* SPDX-License-Identifier: Apache-2.0 */
/* What a template keeps of a stamp: none is read for another, nor half of it
 * while a thread writes. */
#include "number/stamped.h"

#include <pthread.h>

#include "support/test.h"

#define WRITERS 2
#define STAMPS  1000000

static union stamped_begin begin_of(int64_t stamp)
{
    union stamped_begin begin;

    for (size_t i = 0; i < STAMPED_WORDS; i++)
        begin.words[i] = (uint64_t)stamp * (i + 1);
    return begin;
}

static void keep(struct stamped *stamped, int64_t stamp)
{
    const union stamped_begin begin = begin_of(stamp);

    stamped_write(stamped, stamp, &begin);
}

/* False also if another one was read. */
static bool is_of(const union stamped_begin *begin, int64_t stamp)
{
    const union stamped_begin right = begin_of(stamp);

    for (size_t i = 0; i < STAMPED_WORDS; i++) {
        if (begin->words[i] != right.words[i])
            return false;
    }
    return true;
}

TEST(only_the_latest_stamp_is_kept)
{
    struct stamped stamped = {.stamp = STAMPED_NONE};
    union stamped_begin begin;

    assert_false(stamped_read(&stamped, 20261121, &begin));
    keep(&stamped, 20261121);
    assert_true(stamped_read(&stamped, 20261121, &begin));
    assert_true(is_of(&begin, 20261121));
    assert_false(stamped_read(&stamped, 20261122, &begin));
    keep(&stamped, 20261122);
    assert_true(stamped_read(&stamped, 20261122, &begin));
    assert_true(is_of(&begin, 20261122));
    keep(&stamped, 20261121);
    assert_false(stamped_read(&stamped, 20261121, &begin));
    assert_true(stamped_read(&stamped, 20261122, &begin));
    assert_true(is_of(&begin, 20261122));
}

TEST(nobody_writes_while_another_does)
{
    struct stamped stamped = {.stamp = STAMPED_CHANGING};

    keep(&stamped, 20261121);
    assert_true(atomic_load(&stamped.stamp) == STAMPED_CHANGING);
    for (size_t i = 0; i < STAMPED_WORDS; i++)
        assert_true(atomic_load(&stamped.words[i]) == 0);
}

static void *write_stamps(void *argument)
{
    for (int64_t stamp = 1; stamp <= STAMPS; stamp++)
        keep(argument, stamp);
    return NULL;
}

/* Reads what there is until the last stamp is there. */
TEST(what_is_read_is_of_one_stamp)
{
    static struct stamped stamped = {.stamp = STAMPED_NONE};
    pthread_t writers[WRITERS];
    int64_t stamp = 0;

    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(
            pthread_create(&writers[i], NULL, write_stamps, &stamped), 0);
    while (stamp != STAMPS) {
        union stamped_begin begin;

        stamp = atomic_load_explicit(&stamped.stamp, memory_order_relaxed);
        if (stamp != STAMPED_CHANGING && stamp != STAMPED_NONE &&
            stamped_read(&stamped, stamp, &begin))
            assert_true(is_of(&begin, stamp));
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
}
