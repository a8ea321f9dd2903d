/* SPDX-License-Identifier: Apache-2.0 */
/* A migration that leaves a lost store out: whether the other lessors know all
 * that it leased and noted. */
#include <string.h>

#include "offline/migrate.h"
#include "platform/error.h"
#include "platform/text.h"

/* Checks that the store is lost: if it answers and knows the pool, it has to be
 * asked. */
static enum seqb_status check_gone(struct migrate_side *was,
                                   struct seqb_error *err)
{
    struct connection *connection = &was->connections[was->without];
    struct layout_store store = layout_store_of(connection->options);
    struct seqb_error why;
    const bool is_there =
        connection_open(connection, false, &why) == SEQB_OK &&
        claim_read(connection, was->layout, &store, &why) == SEQB_OK &&
        store.layout[0] != '\0';

    connection_close(connection);
    return is_there
               ? error_set(err, SEQB_INVALID,
                           "backend %s answers, and knows what it leased: "
                           "nothing was changed; migrate without --without",
                           connection_name(connection))
               : SEQB_OK;
}

/* Reads the claim "<kind>/<pool>" of a store. If there is none and `text` is
 * not NULL, it claims `text`. */
static enum seqb_status pool_claim(const struct migrate_side *was,
                                   int32_t member, const char *kind,
                                   const char *text,
                                   char standing[SEQB_CLAIM_SIZE],
                                   struct seqb_error *err)
{
    char name[SEQB_COUNTER_SIZE];

    (void)text_format(name, sizeof name, "%s/%s", kind, was->name);
    return connection_claim(&was->connections[member], name, text, standing,
                            SEQB_CLAIM_SIZE, err);
}

/* The claim of a migration that leaves a store out. It is made after all
 * lessors were found level. */
static void without_text(const struct migrate_side *was, const char *by,
                         char out[SEQB_CLAIM_SIZE])
{
    (void)text_format(out, SEQB_CLAIM_SIZE, "%s without %s", by,
                      connection_name(&was->connections[was->without]));
}

/* Whether an earlier run of this migration found the lessor level and retired
 * it. After that the lessor leases and notes nothing. */
static enum seqb_status was_level(const struct migrate_side *was,
                                  int32_t lessor, const char *by, bool *out,
                                  struct seqb_error *err)
{
    char text[SEQB_CLAIM_SIZE];
    char level[SEQB_CLAIM_SIZE];
    char retired[SEQB_CLAIM_SIZE];

    without_text(was, by, text);
    if (pool_claim(was, lessor, "level", NULL, level, err) != SEQB_OK ||
        pool_claim(was, lessor, "retired", NULL, retired, err) != SEQB_OK)
        return err->status;
    *out = strcmp(level, text) == 0 && strcmp(retired, by) == 0;
    return SEQB_OK;
}

/* Whether another store has a mark of another term of this lessor: then the
 * lessor was away while a copy of its store leased in its place. */
static enum seqb_status find_copy(const struct migrate_side *was, int32_t i,
                                  const char *term, bool *out,
                                  struct seqb_error *err)
{
    char name[SEQB_COUNTER_SIZE];
    char mark[SEQB_CLAIM_SIZE];

    (void)text_format(name, sizeof name, "known/%s/%d", was->name,
                      (int)was->lessor_ids[i]);
    for (int32_t j = 0; j < was->lessor_count; j++) {
        if (j == i)
            continue;
        if (connection_claim(&was->connections[was->lessors[j]], name, NULL,
                             mark, sizeof mark, err) != SEQB_OK)
            return err->status;
        *out |= term_is_over(term, mark);
    }
    return SEQB_OK;
}

/* A level lessor knows all that it leased or noted, and all that the missing
 * store knew when the lessor was made level. */
static enum seqb_status check_level(const struct migrate_side *was, int32_t i,
                                    const char *by, struct seqb_error *err)
{
    const int32_t lessor = was->lessors[i];
    const struct connection *connection = &was->connections[lessor];
    const char *without = connection_name(&was->connections[was->without]);
    const char *incarnation = connection->backend->incarnation;
    char synced[SEQB_CLAIM_SIZE];
    char nonce[TERM_NONCE_SIZE];
    bool is_level = false;
    bool has_copy = false;

    if (pool_claim(was, lessor, "synced", NULL, synced, err) != SEQB_OK)
        return err->status;
    is_level = incarnation[0] != '\0' && term_read(synced, incarnation, nonce);
    if (is_level && !term_is_trusted(nonce) &&
        find_copy(was, i, synced, &has_copy, err) != SEQB_OK)
        return err->status;
    if (is_level && !has_copy)
        return SEQB_OK;
    if (was_level(was, lessor, by, &is_level, err) != SEQB_OK)
        return err->status;
    if (is_level)
        return SEQB_OK;
    return error_set(err, SEQB_UNSAFE,
                     "backend %s was %s since it was last level with "
                     "its neighbours: if it went back, only backend %s knows "
                     "what it leased and noted; nothing was changed; bring %s "
                     "back%s",
                     connection_name(connection),
                     has_copy ? "replaced by a copy" : "restarted", without,
                     without,
                     has_copy ? ""
                              : "; or, if you know that it did not go back, "
                                "say so with seqctl trust and the old "
                                "topology, and migrate again so");
}

enum seqb_status old_note_without(const struct migrate_side *was,
                                  const char *by, struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;
    char text[SEQB_CLAIM_SIZE];
    char standing[SEQB_CLAIM_SIZE];

    if (was->without < 0)
        return SEQB_OK;
    without_text(was, by, text);
    for (int32_t i = 0; i < was->lessor_count && status == SEQB_OK; i++)
        status = pool_claim(was, was->lessors[i], "level", text, standing, err);
    return status;
}

enum seqb_status old_check_without(struct migrate_side *was, const char *by,
                                   struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    if (was->without < 0)
        return SEQB_OK;
    if (!was->layout->neighbours)
        return error_set(err, SEQB_INVALID,
                         "pool %s: its stores do not note what another one "
                         "gave, so that none of them can be left out",
                         was->layout->name);
    status = check_gone(was, err);
    for (int32_t i = 0; i < was->lessor_count && status == SEQB_OK; i++)
        status = check_level(was, i, by, err);
    return status;
}
