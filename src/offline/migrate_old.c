/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends the old counters. A counter's value is noted before the counter is
 * raised to its end, since it cannot be read after that.
 */
#include <string.h>

#include "offline/migrate.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/text.h"

/* A claim is never changed. So if an interrupted migration left a note and the
 * counter advanced, it gets another note. Each note allows for more than it
 * must, twice as much as the one before, so that a few notes are enough for any
 * number of interruptions. */
#define NOTES_MAX 60

/* A broker may install a window between the drop and the cell that replaces it,
 * but it has only one window in spare. */
#define CELL_ROUNDS 8

/* The end of a counter: above all that brokers may take. So an ended counter
 * differs from one that brokers used up. */
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

/* Reads the n-th note, or makes it if `text` is given. 0: there is none. */
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
        (text_to_int64(standing, strlen(standing), out) && *out > 0))
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

/* Makes a note of at least `v`, unless there is one. */
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

/* The highest value that the counter may have granted; 0: its store does not
 * know. `is_noted`: nothing is left, and an earlier run noted that value.
 * Otherwise it may be one more than what brokers took. */
static enum seqb_status counter_highest(const struct migrate_counter *counter,
                                        int64_t *out, bool *is_noted,
                                        struct seqb_error *err)
{
    enum seqb_status status = counter_take(counter, end_of(counter), out, err);

    *is_noted = status == SEQB_EXHAUSTED;
    if (*is_noted)
        status = note_read(counter, out, err);
    if (status != SEQB_OK)
        return status;
    *is_noted = *is_noted && *out > 0;
    *out = min_of(*out, counter->limit);
    return SEQB_OK;
}

/* Of counters that are all at their ends without a note. Each lessor was put
 * back since they were noted, one after the other, and made level with another
 * one. If a run of this migration came to its end for the key, it knows the
 * last number, and left nothing to lease. */
static int64_t unnoted_limit(const struct migrate_side *was,
                             const struct migrate_key *key, bool is_windowed)
{
    const int64_t limit = migrate_limit(&key->was, is_windowed);
    int64_t v;

    return was->layout->neighbours && key->was_last > 0 &&
                   migrate_floor(&key->was, is_windowed, key->was_last, &v)
               ? min_of(v, limit)
               : limit;
}

/* Of a counter that is at its end without a note: the highest note that another
 * lessor made. The store was put back to before its own note, and a broker made
 * it level with a lessor that was at its end. What it leased before, the other
 * lessors noted. */
static enum seqb_status unnoted_highest(struct migrate_side *was,
                                        struct migrate_key *key,
                                        int32_t partition, int64_t *out,
                                        struct seqb_error *err)
{
    const bool is_windowed = side_is_windowed(was, partition);

    *out = 0;
    for (int32_t i = 0; i < side_counter_count(was, partition); i++) {
        struct migrate_counter counter;
        int64_t noted;

        side_counter(was, &key->was, key->key,
                     (struct side_place){partition, i}, &counter);
        if (note_read(&counter, &noted, err) != SEQB_OK)
            return err->status;
        *out = max_of(*out, noted);
    }
    *out = *out < 1 ? unnoted_limit(was, key, is_windowed)
                    : min_of(*out, migrate_limit(&key->was, is_windowed));
    if (*out >= migrate_limit(&key->was, is_windowed))
        key->is_unnoted = true;
    return SEQB_OK;
}

void key_saw(struct migrate_key *key, const struct migrate_shape *shape,
             int32_t partition, const struct migrate_counter *counter,
             int64_t v)
{
    key->last = max_of(key->last, migrate_last_number(shape, partition,
                                                      counter->is_windowed, v));
}

enum seqb_status old_read_notes(struct migrate_side *was,
                                struct seqb_error *err)
{
    granted_close(was->granted);
    return granted_read(was->granted_path, &was->granted, err);
}

/* `v`, or more if a broker noted that it was granted as much: then the store
 * went back. As when a broker notices that, other brokers may have been granted
 * up to the gap more. */
static int64_t above_note(const struct migrate_side *was,
                          const struct migrate_counter *counter, int64_t v)
{
    const struct granted_counter noted = {
        .backend = connection_name(counter->connection), .name = counter->name};
    uint32_t line = 0;
    int64_t value = 0;

    if (was->granted != NULL)
        value = granted_find(was->granted, &noted, &line);
    if (value < v)
        return v;
    return value > counter->limit - counter->gap ? counter->limit
                                                 : value + counter->gap;
}

/* Whether the partition counts in a cell that can be asked. */
static bool has_cell(const struct migrate_side *was, int32_t partition)
{
    return side_is_windowed(was, partition) && partition != was->without;
}

static void cell_name(const struct migrate_side *was,
                      const struct migrate_key *key, int32_t partition,
                      char out[SEQB_COUNTER_SIZE])
{
    (void)text_format(out, SEQB_COUNTER_SIZE, "%s%s/%d/%s",
                      was->stores.stores[partition].forgets ? "" : SEQB_CELL,
                      was->name, (int)partition, key->key);
}

/* The lease that the partition's cell is of; 0: there is none. An earlier run
 * may have left a cell of another size. */
static enum seqb_status cell_lease(const struct migrate_side *was,
                                   const struct migrate_key *key,
                                   int32_t partition, int64_t *out,
                                   struct seqb_error *err)
{
    char name[SEQB_COUNTER_SIZE];
    struct seqb_request request = {.counter = name,
                                   .want = 1,
                                   .limit = (int64_t)1 << key->was.window_bits,
                                   .status = SEQB_AGAIN};

    *out = 0;
    cell_name(was, key, partition, name);
    for (int i = 0; i < CELL_ROUNDS && request.status == SEQB_AGAIN; i++) {
        request.window = SEQB_NO_WINDOW;
        if (connection_reserve(&was->connections[partition], &request, 1,
                               err) != SEQB_OK)
            return err->status;
    }
    if (request.status == SEQB_LAYOUT)
        return SEQB_OK;
    if (request.status != SEQB_OK && request.status != SEQB_FENCED &&
        request.status != SEQB_EXHAUSTED)
        return error_copy(err, &request.error);
    if (request.window != SEQB_NO_WINDOW)
        *out = request.window >> key->was.lessor_bits;
    return SEQB_OK;
}

/* Takes one value of each counter of the partition. If it is the last one, it
 * is noted. So is what another lessor noted of a counter without a note: that
 * lessor may be put back next. The cell may be above an authority that was put
 * back. */
static enum seqb_status partition_ask(struct migrate_side *was,
                                      struct migrate_key *key,
                                      int32_t partition, bool is_last,
                                      struct seqb_error *err)
{
    int64_t lease = 0;

    if (has_cell(was, partition) &&
        cell_lease(was, key, partition, &lease, err) != SEQB_OK)
        return err->status;
    for (int32_t i = 0; i < side_counter_count(was, partition); i++) {
        struct migrate_counter counter;
        bool is_noted;
        int64_t v;

        side_counter(was, &key->was, key->key,
                     (struct side_place){partition, i}, &counter);
        if (counter_highest(&counter, &v, &is_noted, err) != SEQB_OK ||
            (v < 1 && unnoted_highest(was, key, partition, &v, err) != SEQB_OK))
            return err->status;
        v = max_of(above_note(was, &counter, v), min_of(lease, counter.limit));
        if (!is_noted && is_last && note_make(&counter, v, err) != SEQB_OK)
            return err->status;
        key_saw(key, &key->was, partition, &counter, v);
    }
    return SEQB_OK;
}

enum seqb_status old_check_back(const struct migrate_side *was,
                                struct seqb_error *err)
{
    for (int32_t i = 0; i < was->stores.count; i++) {
        if (was->went_back[i] && !was->layout->neighbours)
            return error_set(err, SEQB_LAYOUT,
                             "backend %s was put back to a state from before "
                             "the end of the migration to generation %d, or "
                             "that was cut off; nothing was changed; run that "
                             "migration again first",
                             was->stores.stores[i].backend,
                             (int)was->layout->generation);
    }
    return SEQB_OK;
}

enum seqb_status old_ask(struct migrate_side *was, struct migrate_key *key,
                         struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (int32_t i = 0; i < was->stores.partitions && status == SEQB_OK; i++)
        status = partition_ask(was, key, i, false, err);
    return status;
}

enum seqb_status old_retire(struct migrate_side *was, const char *by,
                            struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (int32_t i = 0; i < was->stores.count && status == SEQB_OK; i++) {
        if (i != was->without)
            status = claim_retire(&was->connections[i], was->layout, by, err);
    }
    return status;
}

static enum seqb_status fail_other_layout(const struct migrate_side *was,
                                          const char *claim,
                                          struct seqb_error *err)
{
    return error_set(err, SEQB_LAYOUT,
                     "pool %s: an earlier run of this migration went on to "
                     "give its new stores another layout, and brokers may have "
                     "used it (claim '%s'); continue with that topology; or, "
                     "if none did, remove that claim from each old store",
                     was->layout->name, claim);
}

enum seqb_status old_note_layout(const struct migrate_side *was,
                                 const struct migrate_side *is, bool is_begun,
                                 struct seqb_error *err)
{
    const char *text = is->claim.text;
    char claim[SEQB_COUNTER_SIZE];
    char standing[SEQB_CLAIM_SIZE];
    enum seqb_status status = SEQB_OK;

    (void)text_format(claim, sizeof claim, "finish/%s", is->name);
    for (int32_t i = 0; i < was->stores.count && status == SEQB_OK; i++) {
        if (i == was->without || was->stores.stores[i].forgets)
            continue;
        status = connection_claim(&was->connections[i], claim,
                                  is_begun ? text : NULL, standing,
                                  sizeof standing, err);
        if (status == SEQB_OK && standing[0] != '\0' &&
            strcmp(standing, text) != 0)
            status = fail_other_layout(was, claim, err);
    }
    return status;
}

/* May be called again for a counter that was ended before. */
static enum seqb_status counter_end(const struct migrate_counter *counter,
                                    struct seqb_error *err)
{
    struct migrate_counter last = *counter;

    last.gap = 0; /* there is nothing above its end */
    return counter_raise(&last, end_of(counter), end_of(counter), err);
}

/* Puts a cell of another size in its place. No broker of this layout counts in
 * it, or replaces it by its spare window. */
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
                                    .floor = migrate_window_limit(&key->was),
                                    .limit = INT64_MAX};
    enum seqb_status status = SEQB_LAYOUT;

    cell_name(was, key, partition, name);
    for (int round = 0; round < CELL_ROUNDS; round++) {
        /* A larger size, since memcached refuses a small one; within what the
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

/* All lessors' counters are noted before the first one is raised. Otherwise a
 * broker that makes one lessor level might raise it to the end of another, and
 * it could not be read any more. */
static enum seqb_status partition_exhaust(struct migrate_side *was,
                                          struct migrate_key *key,
                                          int32_t partition,
                                          struct seqb_error *err)
{
    enum seqb_status status = partition_ask(was, key, partition, true, err);

    for (int32_t i = 0;
         i < side_counter_count(was, partition) && status == SEQB_OK; i++) {
        struct migrate_counter counter;

        side_counter(was, &key->was, key->key,
                     (struct side_place){partition, i}, &counter);
        status = counter_end(&counter, err);
    }
    return status == SEQB_OK && has_cell(was, partition)
               ? cell_bury(was, key, partition, err)
               : status;
}

enum seqb_status old_exhaust(struct migrate_side *was, struct migrate_key *key,
                             struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (int32_t i = 0; i < was->stores.partitions && status == SEQB_OK; i++)
        status = partition_exhaust(was, key, i, err);
    return status;
}
