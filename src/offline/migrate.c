/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A migration from the first read to the last claim. It reads and plans
 * everything before it writes anything, and its writes may be interrupted
 * anywhere. The steps are in migrate_old.c and migrate_new.c.
 */
#include <stdlib.h>
#include <string.h>

#include "offline/migrate.h"
#include "offline/offline.h"
#include "platform/error.h"
#include "platform/text.h"

#define LINE_SIZE     1024
#define STEPS_PER_KEY 3

/* The progress. A step reads, prepares or moves one key. */
struct steps {
    const struct seqb_progress *progress; /* NULL: progress is not shown */
    int64_t done;
    int64_t total;
};

/* One pool that is being migrated. */
struct move {
    struct steps *steps; /* shared by all pools of the migration */
    const struct offline_pool *options;
    struct migrate_side *was;
    struct migrate_side *is;
    struct migrate_key *keys; /* as many as options->key_count */
    bool is_done;             /* an earlier run migrated the layout and all
                                 keys */
};

struct migration {
    const struct offline_migration *options;
    struct watchdog *watchdog;
    struct move *moves; /* one for each pool */
    size_t count;
    struct steps steps;
};

/* --- reports --- */

static void step_done(const struct move *move)
{
    struct steps *steps = move->steps;

    steps->done++;
    if (steps->progress != NULL)
        steps->progress->show(steps->progress->context, steps->done,
                              steps->total);
}

static void report(const struct migration *migration, const char *line)
{
    const struct offline_migration *options = migration->options;

    if (options->report != NULL)
        options->report(options->context, line);
}

static void append_stores(const struct migrate_side *side, char *line)
{
    for (int32_t i = 0; i < side->stores.count; i++) {
        const struct layout_store *store = &side->stores.stores[i];
        const char *before = i == 0 ? "" : ", ";

        if (i == side->stores.partitions)
            before = "; authority ";
        (void)text_append(line, LINE_SIZE, "%s%s%s", before, store->backend,
                          i == side->without  ? " (left out)"
                          : store->is_reached ? ""
                                              : " (yet to be made)");
    }
    if (side->layout->neighbours)
        (void)text_append(line, LINE_SIZE, "; authority neighbours");
}

static void report_stores(const struct migration *migration, const char *which,
                          const struct migrate_side *side)
{
    char line[LINE_SIZE];

    (void)text_format(line, sizeof line, "  %s stores: ", which);
    append_stores(side, line);
    report(migration, line);
}

static void report_layout(const struct migration *migration,
                          const struct move *move)
{
    const struct layout *was = move->was->layout;
    const struct layout *is = move->is->layout;
    char line[LINE_SIZE];

    (void)text_format(line, sizeof line,
                      "pool %s: generation %d -> %d, partitions %d -> %d",
                      is->name, (int)is->generation - 1, (int)is->generation,
                      1 << was->bits, 1 << is->bits);
    if (side_has(move->was, true) || side_has(move->is, true))
        (void)text_append(line, sizeof line, ", window_bits %d -> %d",
                          (int)was->window_bits, (int)is->window_bits);
    report(migration, line);
    report_stores(migration, "old", move->was);
    report_stores(migration, "new", move->is);
}

/* The largest value, or window, of the old counters with which the key still
 * fits in the new layout. */
static int64_t capacity_of(const struct move *move,
                           const struct migrate_key *key, bool was_windowed)
{
    int64_t room = INT64_MAX;

    for (int windowed = 0; windowed <= 1; windowed++) {
        const int64_t some = side_has(move->is, windowed != 0)
                                 ? migrate_capacity(&key->was, was_windowed,
                                                    &key->is, windowed != 0)
                                 : INT64_MAX;

        room = some < room ? some : room;
    }
    return room;
}

/* Appends the window bits if they differ from the pools', which were reported
 * before. */
static void append_windows(const struct move *move,
                           const struct migrate_key *key, char *line)
{
    if (key->was.window_bits != move->was->layout->window_bits ||
        key->is.window_bits != move->is->layout->window_bits)
        (void)text_append(line, LINE_SIZE, "window_bits %d -> %d; ",
                          (int)key->was.window_bits, (int)key->is.window_bits);
}

static void report_key(const struct migration *migration,
                       const struct move *move, const struct migrate_key *key)
{
    const bool is_done = new_has_key(move->is, key);
    char line[LINE_SIZE];

    (void)text_format(line, sizeof line,
                      "  sequence %s: memory_bits %d -> %d; ", key->key,
                      (int)key->was.memory_bits, (int)key->is.memory_bits);
    append_windows(move, key, line);
    if (is_done || key->is_new) {
        (void)text_append(line, sizeof line, "%s",
                          is_done ? "was brought along before"
                                  : "is new, nothing was issued");
        report(migration, line);
        return;
    }
    (void)text_append(line, sizeof line, "fits if no old counter is above ");
    if (side_has(move->was, false))
        (void)text_append(line, sizeof line, "%lld",
                          (long long)capacity_of(move, key, false));
    if (side_has(move->was, true))
        (void)text_append(line, sizeof line, "%s%lld %s",
                          side_has(move->was, false) ? " or " : "",
                          (long long)capacity_of(move, key, true),
                          move->was->layout->neighbours ? "leases" : "windows");
    report(migration, line);
}

/* Reports stores that went back. Neighbours know what such a store leased;
 * without neighbours, only that store knew. */
static void report_back(const struct migration *migration,
                        const struct migrate_side *is)
{
    char line[LINE_SIZE];

    for (int32_t i = 0; i < is->stores.count; i++) {
        if (!is->went_back[i])
            continue;
        (void)text_format(
            line, sizeof line,
            "  warning: backend %s was put back to a state from before this "
            "migration or from its middle, or its last step was cut off: its "
            "counters are raised above those of the others%s",
            is->stores.stores[i].backend,
            is->layout->neighbours
                ? ""
                : " and failover_gap; if it may have granted more since, write "
                  "a larger failover_gap into the new topology first, and "
                  "advance each sequence before services take numbers; a key "
                  "that no other store can list must be named in --keys");
        report(migration, line);
    }
}

static void report_without(const struct migration *migration,
                           const struct migrate_side *was)
{
    const char *backend = migration->options->without;
    char line[LINE_SIZE];

    if (was->without < 0)
        return;
    (void)text_format(line, sizeof line,
                      "  warning: backend %s is left out: of what it leased, "
                      "all that its neighbours noted is passed; never use its "
                      "store again, nor a copy of it",
                      backend);
    report(migration, line);
}

static void report_plan(const struct migration *migration,
                        const struct move *move)
{
    report_layout(migration, move);
    report_back(migration, move->is);
    report_without(migration, move->was);
    for (size_t i = 0; i < move->options->key_count; i++)
        report_key(migration, move, &move->keys[i]);
    report(
        migration,
        "  steps: retire the old pool in each old store; for each sequence, "
        "note how far each old counter came and raise it to its end, so that "
        "old brokers get nothing more; raise each new counter above all of "
        "them; claim the new layout in each new store");
}

static void report_numbers(const struct migration *migration,
                           const struct migrate_key *key)
{
    char line[LINE_SIZE];

    (void)text_format(line, sizeof line,
                      "  sequence %s: numbers go on above %lld", key->key,
                      (long long)key->last);
    report(migration, line);
}

/* --- reading --- */

static enum seqb_status stores_read_all(const struct move *move,
                                        struct seqb_error *err)
{
    enum seqb_status status = side_connect(move->was, SIDE_ALL, err);

    if (status == SEQB_OK)
        status = old_check_without(move->was, move->is->name, err);
    if (status == SEQB_OK)
        status = side_connect(move->is, SIDE_SOME, err);
    if (status == SEQB_OK)
        status = side_read(move->was, err);
    if (status == SEQB_OK)
        status = side_read(move->is, err);
    if (status != SEQB_OK || layout_find_claim(&move->was->stores) != NULL)
        return status;
    return error_set(err, SEQB_LAYOUT,
                     "pool %s: no store knows its old layout; nothing was "
                     "changed; is the old topology the one that its brokers "
                     "use?",
                     move->was->name);
}

static enum seqb_status move_read(struct move *move, struct seqb_error *err)
{
    enum seqb_status status = stores_read_all(move, err);

    if (status != SEQB_OK)
        return status;
    move->is_done = new_is_finished(move->is);
    for (size_t i = 0; i < move->options->key_count; i++) {
        status = key_read(move->was, move->is, &move->options->keys[i],
                          &move->keys[i], err);
        if (status != SEQB_OK)
            return status;
        step_done(move);
        move->is_done = move->is_done && move->keys[i].is_done;
    }
    if (!move->is_done && old_check_snowflakes(move->was, err) != SEQB_OK)
        return err->status;
    return new_may_repeat(move->is) ? used_check(move->is, move->options->keys,
                                                 move->options->key_count, err)
                                    : SEQB_OK;
}

/* --- writing --- */

/* Checks that the numbers fit before anything final is done. Until then, values
 * were taken from the old counters and the new stores were created; no more. */
static enum seqb_status move_prepare(struct move *move, struct seqb_error *err)
{
    enum seqb_status status = side_connect(move->is, SIDE_MAKE, err);

    if (status == SEQB_OK)
        status = old_read_notes(move->was, err);
    if (status == SEQB_OK)
        status = new_identify(move->is, err);
    if (status == SEQB_OK)
        status = old_note_layout(move->was, move->is, false, err);
    if (status == SEQB_OK)
        status = side_read(move->is, err);
    for (size_t i = 0; i < move->options->key_count && status == SEQB_OK; i++) {
        struct migrate_key *key = &move->keys[i];

        step_done(move);
        if (new_has_key(move->is, key) || key->is_new)
            continue;
        status = old_ask(move->was, key, err);
        if (status == SEQB_OK)
            status = new_check(move->is, key, err);
    }
    return status;
}

/* A broker may have begun to use the key since it was read. None can begin any
 * more, for the pool is retired now. */
static enum seqb_status key_read_again(const struct move *move, size_t i,
                                       struct seqb_error *err)
{
    struct migrate_key *key = &move->keys[i];

    return key->is_done || key->is_claimed
               ? SEQB_OK
               : key_read(move->was, move->is, &move->options->keys[i], key,
                          err);
}

static enum seqb_status key_move(const struct migration *migration,
                                 const struct move *move, size_t i,
                                 struct seqb_error *err)
{
    struct migrate_key *key = &move->keys[i];
    enum seqb_status status = key_read_again(move, i, err);

    if (status != SEQB_OK || new_has_key(move->is, key))
        return status;
    if (!key->is_new)
        status = old_exhaust(move->was, key, err);
    if (status == SEQB_OK)
        status = new_overtake(move->is, key, err);
    if (status == SEQB_OK)
        status = new_raise(move->is, key, err);
    if (status == SEQB_OK)
        report_numbers(migration, key);
    return status;
}

static enum seqb_status move_run(const struct migration *migration,
                                 struct move *move, struct seqb_error *err)
{
    struct seqb_error why;
    enum seqb_status status = old_note_without(move->was, move->is->name, &why);

    if (status == SEQB_OK)
        status = old_retire(move->was, move->is->name, &why);
    for (size_t i = 0; i < move->options->key_count && status == SEQB_OK; i++) {
        status = key_move(migration, move, i, &why);
        step_done(move);
    }
    if (status == SEQB_OK)
        status = old_note_layout(move->was, move->is, true, &why);
    if (status == SEQB_OK)
        status = new_finish(move->is, &why);
    if (status == SEQB_OK)
        return SEQB_OK;
    return error_set(err, status,
                     "pool %s is half migrated: mend this and migrate again: "
                     "%s",
                     move->is->layout->name, why.text);
}

/* --- the migration --- */

static enum seqb_status move_init(struct migration *migration, size_t i,
                                  struct seqb_error *err)
{
    const struct offline_migration *options = migration->options;
    struct move *move = &migration->moves[i];
    enum seqb_status status;

    move->steps = &migration->steps;
    move->options = &options->pools[i];
    move->steps->total += (int64_t)move->options->key_count *
                          (options->dry_run ? 1 : STEPS_PER_KEY);
    move->keys = calloc(move->options->key_count + 1, sizeof *move->keys);
    if (move->keys == NULL) {
        (void)error_set(err, SEQB_NO_MEMORY, "out of memory");
        return SEQB_NO_MEMORY;
    }
    status = side_new(options->was, move->options->was, migration->watchdog,
                      &move->was, err);
    if (status == SEQB_OK && options->without != NULL)
        (void)side_leave_out(move->was, options->without);
    if (status == SEQB_OK)
        status = side_new(options->is, move->options->is, migration->watchdog,
                          &move->is, err);
    return status;
}

static enum seqb_status migration_init(struct migration *migration,
                                       struct seqb_error *err)
{
    struct watchdog *watchdog = NULL;
    enum seqb_status status = watchdog_open(NULL, NULL, &watchdog, err);

    migration->watchdog = watchdog;
    migration->moves = calloc(migration->count, sizeof *migration->moves);
    if (migration->moves == NULL) {
        (void)error_set(err, SEQB_NO_MEMORY, "out of memory");
        return SEQB_NO_MEMORY;
    }
    for (size_t i = 0; i < migration->count && status == SEQB_OK; i++)
        status = move_init(migration, i, err);
    return status;
}

static void migration_fini(struct migration *migration)
{
    for (size_t i = 0; migration->moves != NULL && i < migration->count; i++) {
        side_free(migration->moves[i].was);
        side_free(migration->moves[i].is);
        free(migration->moves[i].keys);
    }
    free(migration->moves);
    watchdog_close(migration->watchdog);
}

/* Reads every pool and reports what will be done. `*is_done` if there is
 * nothing to do. */
static enum seqb_status migration_read(const struct migration *migration,
                                       bool *is_done, struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    *is_done = true;
    for (size_t i = 0; i < migration->count && status == SEQB_OK; i++) {
        status = move_read(&migration->moves[i], err);
        *is_done = *is_done && migration->moves[i].is_done;
    }
    if (status != SEQB_OK)
        return status;
    if (*is_done) {
        report(migration, "all is migrated already: nothing is to be done");
        return SEQB_OK;
    }
    for (size_t i = 0; i < migration->count; i++)
        report_plan(migration, &migration->moves[i]);
    report(migration,
           "warning: stop every broker of the old topology first; one "
           "that still runs gets no more numbers");
    return SEQB_OK;
}

static enum seqb_status migration_run(const struct migration *migration,
                                      struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (size_t i = 0; i < migration->count && status == SEQB_OK; i++)
        status = move_prepare(&migration->moves[i], err);
    for (size_t i = 0; i < migration->count && status == SEQB_OK; i++)
        status = move_run(migration, &migration->moves[i], err);
    if (status == SEQB_OK)
        report(migration, "done: start the brokers with the new topology");
    return status;
}

enum seqb_status offline_migrate(const struct offline_migration *options,
                                 struct seqb_error *err)
{
    struct migration migration = {.options = options,
                                  .count = options->pool_count,
                                  .steps.progress = options->progress};
    struct seqb_error why;
    bool is_done = false;
    enum seqb_status status = migration_init(&migration, &why);

    if (status == SEQB_OK)
        status = migration_read(&migration, &is_done, &why);
    if (status == SEQB_OK && !is_done && options->dry_run)
        report(&migration, "dry run: nothing was written");
    else if (status == SEQB_OK && !is_done)
        status = migration_run(&migration, &why);
    migration_fini(&migration);
    return status == SEQB_OK ? SEQB_OK : error_copy(err, &why);
}
