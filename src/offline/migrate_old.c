/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ending the old counters. How far one came is noted before the counter is
 * raised to its end, after which it could not be asked any more.
 */
#include <string.h>

#include "offline/migrate_steps.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/text.h"

/* A claim is never changed: a counter that went on after a note, when a
 * migration was cut off, gets another one. Each says more than it must, twice
 * as much as the one before, so that a few do however often that happens. */
#define NOTES_MAX 60

/* A broker may install a window between a drop and what is put in its place,
 * but has only one in spare. */
#define BURY_ROUNDS 8

/* Where an ended counter stands: above all that brokers may take, so that it
 * can be told from one that they used up. */
static int64_t end_of(const struct migrate_counter *counter)
{
    return counter->limit < INT64_MAX ? counter->limit + 1 : counter->limit;
}

/* --- notes --- */

static void note_name(const struct migrate_counter *counter, int n, char *out,
                      size_t size)
{
    (void)text_format(out, size, "retired/%s", counter->name);
    if (n > 1)
        (void)text_append(out, size, "/%d", n);
}

/* The n-th note, which is made if `text` is given. 0: there is none. */
static enum seqb_status note_claim(const struct migrate_counter *counter, int n,
                                   const char *text, int64_t *out,
                                   struct seqb_error *err)
{
    char name[SEQB_COUNTER_SIZE];
    char standing[64];
    enum seqb_status status;

    note_name(counter, n, name, sizeof name);
    status = connection_claim(counter->connection, name, text, standing,
                              sizeof standing, err);
    *out = 0;
    if (status != SEQB_OK || standing[0] == '\0' ||
        text_to_int64(standing, strlen(standing), out))
        return status;
    return error_set(err, SEQB_CORRUPT, "backend %s: claim '%s' says '%s'",
                     connection_name(counter->connection), name, standing);
}

/* The highest of all notes; 0: there is none. */
static enum seqb_status note_read(const struct migrate_counter *counter,
                                  int64_t *out, struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;
    int64_t noted = 1;

    *out = 0;
    for (int n = 1; n <= NOTES_MAX && noted > 0 && status == SEQB_OK; n++) {
        status = note_claim(counter, n, NULL, &noted, err);
        *out = max_of(*out, noted);
    }
    return status;
}

/* Sees to it that a note says at least `v`. */
static enum seqb_status note_make(const struct migrate_counter *counter,
                                  int64_t v, struct seqb_error *err)
{
    for (int n = 1; n <= NOTES_MAX; n++) {
        const int64_t more = ((int64_t)1 << (n - 1)) - 1;
        char text[32];
        int64_t noted;
        enum seqb_status status;

        (void)text_format(
            text, sizeof text, "%lld",
            (long long)(v > counter->limit - more ? counter->limit : v + more));
        status = note_claim(counter, n, text, &noted, err);
        if (status != SEQB_OK || noted >= v)
            return status;
    }
    return error_set(err, SEQB_LAYOUT,
                     "counter %s went on after %d migrations that were cut "
                     "off: stop its brokers",
                     counter->name, NOTES_MAX);
}

/* --- counters --- */

/* The highest value that the counter may have granted. `is_open`: it is one
 * more than brokers had, and there are more. */
static enum seqb_status counter_highest(const struct migrate_counter *counter,
                                        int64_t *out, bool *is_open,
                                        struct seqb_error *err)
{
    enum seqb_status status = counter_take(counter, end_of(counter), out, err);

    *is_open = status == SEQB_OK;
    if (status == SEQB_EXHAUSTED)
        status = note_read(counter, out, err);
    if (status == SEQB_OK && (*out < 1 || *out > counter->limit))
        *out = counter->limit;
    return status;
}

static void key_saw(struct migrate_key *key, int32_t partition,
                    bool is_windowed, int64_t v)
{
    key->last = max_of(
        key->last, migrate_last_number(&key->was, partition, is_windowed, v));
}

enum seqb_status old_ask(struct migrate_side *was, struct migrate_key *key,
                         struct seqb_error *err)
{
    for (int32_t i = 0; i < was->stores.partitions; i++) {
        struct migrate_counter counter;
        bool is_open;
        int64_t v;

        side_counter(was, &key->was, key->key, i, &counter);
        if (counter_highest(&counter, &v, &is_open, err) != SEQB_OK)
            return err->status;
        key_saw(key, i, counter.is_windowed, v);
    }
    return SEQB_OK;
}

enum seqb_status old_retire(struct migrate_side *was, const char *by,
                            struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (int32_t i = 0; i < was->stores.count && status == SEQB_OK; i++)
        status = claim_retire(&was->connections[i], was->layout, by, err);
    return status;
}

static enum seqb_status counter_end(const struct migrate_counter *counter,
                                    int64_t v, struct seqb_error *err)
{
    struct migrate_counter last = *counter;
    const enum seqb_status status = note_make(counter, v, err);

    last.gap = 0; /* there is nothing above its end */
    return status == SEQB_OK
               ? counter_raise(&last, end_of(counter), end_of(counter), err)
               : status;
}

/* A cell of another size, which no broker of this layout counts in, nor puts
 * its spare window over. */
static enum seqb_status cell_replace(struct connection *connection,
                                     const struct seqb_raise *drop,
                                     int64_t size, struct seqb_error *err)
{
    const struct seqb_window window = {
        .counter = drop->counter, .window = 1, .size = size};
    int64_t standing;
    enum seqb_status status =
        connection_raise(connection, drop, &standing, err);

    return status == SEQB_OK
               ? connection_install(connection, &window, &standing, err)
               : status;
}

static enum seqb_status cell_bury(struct migrate_side *was,
                                  const struct migrate_key *key,
                                  int32_t partition, struct seqb_error *err)
{
    const int32_t bits = key->was.window_bits;
    char name[SEQB_COUNTER_SIZE];
    const struct seqb_raise drop = {.counter = name,
                                    .floor = migrate_limit(&key->was, true),
                                    .limit = INT64_MAX};
    enum seqb_status status = SEQB_LAYOUT;

    (void)text_format(name, sizeof name, "%s/%d/%s", was->name, (int)partition,
                      key->key);
    for (int round = 0; round < BURY_ROUNDS; round++) {
        /* Larger, since a memcached refuses what is small; within what the
         * engines allow. */
        status =
            cell_replace(&was->connections[partition], &drop,
                         (int64_t)1 << (bits < 40 ? bits + 1 : bits - 1), err);
        if (status != SEQB_LAYOUT && status != SEQB_FENCED &&
            status != SEQB_AGAIN)
            break;
    }
    return status;
}

static enum seqb_status partition_exhaust(struct migrate_side *was,
                                          struct migrate_key *key,
                                          int32_t partition,
                                          struct seqb_error *err)
{
    struct migrate_counter counter;
    bool is_open;
    int64_t v;

    side_counter(was, &key->was, key->key, partition, &counter);
    if (counter_highest(&counter, &v, &is_open, err) != SEQB_OK)
        return err->status;
    if (is_open && counter_end(&counter, v, err) != SEQB_OK)
        return err->status;
    key_saw(key, partition, counter.is_windowed, v);
    return counter.is_windowed ? cell_bury(was, key, partition, err) : SEQB_OK;
}

enum seqb_status old_exhaust(struct migrate_side *was, struct migrate_key *key,
                             struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (int32_t i = 0; i < was->stores.partitions && status == SEQB_OK; i++)
        status = partition_exhaust(was, key, i, err);
    return status;
}
