/* SPDX-License-Identifier: Apache-2.0 */
/* Reads, writes and verifies the claims of a store. */
#include "store/claim.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "platform/chance.h"
#include "platform/error.h"
#include "platform/hash.h"
#include "platform/text.h"
#include "store/compare.h"

#define PLACE_CLAIM "place"

#define NUMBER_SIZE 24

/* A store that may forget does not keep its claims. */
static bool store_remembers(const struct connection *connection)
{
    return connection_guarantee(connection) == SEQB_DIRECT;
}

void claim_pool_name(const char *kind, const struct layout *layout, char *out,
                     size_t size)
{
    char name[LAYOUT_POOL_SIZE];

    layout_internal_name(layout->name, layout->generation, name, sizeof name);
    (void)text_format(out, size, "%s/%s", kind, name);
}

/* A store may have one place in a pool's first layout and another in a later
 * one, so the name has the generation. */
static void place_claim_name(const struct layout *layout, char *out,
                             size_t size)
{
    layout_internal_name(PLACE_CLAIM, layout->generation, out, size);
}

enum seqb_status claim_read(struct connection *connection,
                            const struct layout *layout,
                            struct layout_store *out, struct seqb_error *err)
{
    char name[SEQB_COUNTER_SIZE];
    enum seqb_status status = connection_claim(connection, CLAIM_STORE, NULL,
                                               out->id, sizeof out->id, err);

    place_claim_name(layout, name, sizeof name);
    if (status == SEQB_OK)
        status = connection_claim(connection, name, NULL, out->place,
                                  sizeof out->place, err);
    if (status != SEQB_OK)
        return status;
    claim_pool_name("pool", layout, name, sizeof name);
    return connection_claim(connection, name, NULL, out->layout,
                            sizeof out->layout, err);
}

enum seqb_status claim_look(struct connection *connection,
                            struct seqb_error *err)
{
    char id[LAYOUT_STORE_SIZE];

    return connection_claim(connection, CLAIM_STORE, NULL, id, sizeof id, err);
}

enum seqb_status claim_identify(struct connection *connection,
                                struct layout_store *out,
                                struct seqb_error *err)
{
    char id[LAYOUT_STORE_SIZE];

    if (!store_remembers(connection))
        (void)text_copy(id, sizeof id, connection_name(connection));
    else if (!chance_id(id))
        return error_set(err, SEQB_NO_MEMORY, "no random bytes for an id");
    return connection_claim(connection, CLAIM_STORE, id, out->id,
                            sizeof out->id, err);
}

/* The store must be the one that the layout names. A store that may forget is
 * given its id again. */
static enum seqb_status verify_id(struct connection *connection,
                                  const char *expected, struct seqb_error *err)
{
    const char *name = connection_name(connection);
    char id[LAYOUT_STORE_SIZE];
    const enum seqb_status status = connection_claim(
        connection, CLAIM_STORE, store_remembers(connection) ? NULL : name, id,
        sizeof id, err);

    return status == SEQB_OK ? compare_id(name, id, expected, err) : status;
}

/* The place must match because the counters' names and the numbers' bits depend
 * on it. An authority that is no partition has no place: it may serve several
 * pools. */
static enum seqb_status verify_place(struct connection *connection,
                                     const struct layout *layout,
                                     int32_t member, struct seqb_error *err)
{
    char place[LAYOUT_STORE_SIZE];
    char claim[LAYOUT_STORE_SIZE];
    char standing[LAYOUT_STORE_SIZE];
    enum seqb_status status;

    if (member >= 1 << layout->bits)
        return SEQB_OK;
    place_claim_name(layout, claim, sizeof claim);
    compare_place_name(layout, member, place, sizeof place);
    status = connection_claim(connection, claim, place, standing,
                              sizeof standing, err);
    if (status != SEQB_OK)
        return status;
    return compare_place(connection_name(connection), standing, layout, member,
                         err);
}

static enum seqb_status retired_error(const struct connection *connection,
                                      const struct layout *layout,
                                      const char *by, struct seqb_error *err)
{
    return error_set(err, SEQB_LAYOUT,
                     "backend %s: pool %s of generation %d was retired by "
                     "seqctl migrate, '%s' has taken its place; use the "
                     "topology that was migrated to",
                     connection_name(connection), layout->name,
                     (int)layout_generations(layout), by);
}

/* Reads which layout has retired the pool; if there is none, claims it for
 * `by` (NULL: only reads). */
static enum seqb_status claim_retired(struct connection *connection,
                                      const struct layout *layout,
                                      const char *by,
                                      char out[LAYOUT_STORE_SIZE],
                                      struct seqb_error *err)
{
    char name[SEQB_COUNTER_SIZE];

    claim_pool_name("retired", layout, name, sizeof name);
    return connection_claim(connection, name, by, out, LAYOUT_STORE_SIZE, err);
}

enum seqb_status claim_check_retired(struct connection *connection,
                                     const struct layout *layout,
                                     struct seqb_error *err)
{
    char by[LAYOUT_STORE_SIZE];
    const enum seqb_status status =
        claim_retired(connection, layout, NULL, by, err);

    if (status != SEQB_OK || by[0] == '\0')
        return status;
    return retired_error(connection, layout, by, err);
}

enum seqb_status claim_retire(struct connection *connection,
                              const struct layout *layout, const char *by,
                              struct seqb_error *err)
{
    char standing[LAYOUT_STORE_SIZE];
    const enum seqb_status status =
        claim_retired(connection, layout, by, standing, err);

    if (status != SEQB_OK || strcmp(standing, by) == 0)
        return status;
    return retired_error(connection, layout, standing, err);
}

enum seqb_status claim_check_migrated(struct connection *connection,
                                      const struct layout *layout,
                                      struct seqb_error *err)
{
    char name[SEQB_COUNTER_SIZE];
    char standing[SEQB_CLAIM_SIZE];
    enum seqb_status status;

    if (layout->generation <= 1 || !store_remembers(connection))
        return SEQB_OK;
    claim_pool_name("pool", layout, name, sizeof name);
    status = connection_claim(connection, name, NULL, standing, sizeof standing,
                              err);
    if (status != SEQB_OK || standing[0] != '\0')
        return status;
    return error_set(err, SEQB_LAYOUT,
                     "backend %s: its store knows nothing of generation %d of "
                     "pool %s: it was put back to a copy from before that "
                     "migration, or the migration was cut off; run it again",
                     connection_name(connection), (int)layout->generation,
                     layout->name);
}

/* --- lessees --- */

/* The text with its end; NULL adds nothing. */
static uint64_t text_add(uint64_t hash, const char *text)
{
    return text == NULL ? hash : hash_add(hash, text, strlen(text) + 1);
}

/* The name is a hash of the store's address: of its server and of the store
 * within that server. */
static void lessee_claim_name(const struct store_options *lessee, char *out,
                              size_t size)
{
    const struct seqb_backend_options *options = &lessee->options;
    const char *const *sentinel = options->sentinels;
    const char *const *endpoint = options->endpoints;
    char port[NUMBER_SIZE];
    uint64_t hash = HASH_BEGIN;

    (void)text_format(port, sizeof port, "%d", (int)options->port);
    hash = text_add(hash, lessee->ops->engine);
    hash = text_add(hash, options->host);
    hash = text_add(hash, options->socket_path);
    hash = text_add(hash, port);
    hash = text_add(hash, options->master_name);
    for (; sentinel != NULL && *sentinel != NULL; sentinel++)
        hash = text_add(hash, *sentinel);
    for (; endpoint != NULL && *endpoint != NULL; endpoint++)
        hash = text_add(hash, *endpoint);
    hash = text_add(hash, options->path);
    hash = text_add(hash, options->database);
    hash = text_add(hash, options->prefix);
    (void)text_format(out, size, "lessee/%016" PRIx64, hash);
}

/* Reads the pool for which the authority leased windows to the store; if there
 * is none, claims it for `pool` (NULL: only reads). "" for a store that needs
 * no windows. */
static enum seqb_status claim_lessee(struct connection *authority,
                                     const struct store_options *lessee,
                                     const char *pool,
                                     char out[LAYOUT_STORE_SIZE],
                                     struct seqb_error *err)
{
    char name[SEQB_COUNTER_SIZE];

    out[0] = '\0';
    if (lessee->ops->guarantee != SEQB_WINDOWED)
        return SEQB_OK;
    lessee_claim_name(lessee, name, sizeof name);
    return connection_claim(authority, name, pool, out, LAYOUT_STORE_SIZE, err);
}

enum seqb_status claim_read_lessees(struct connection *authority,
                                    const struct layout *layout,
                                    const struct store_options *backends,
                                    char (*out)[LAYOUT_STORE_SIZE],
                                    struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (int32_t i = 0; i < 1 << layout->bits && status == SEQB_OK; i++)
        status = claim_lessee(authority, &backends[layout->partitions[i]], NULL,
                              out[i], err);
    return status;
}

static enum seqb_status verify_lessees(struct connection *authority,
                                       const struct layout *layout,
                                       const struct store_options *backends,
                                       struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (int32_t i = 0; i < 1 << layout->bits && status == SEQB_OK; i++) {
        const struct store_options *lessee = &backends[layout->partitions[i]];
        char standing[LAYOUT_STORE_SIZE];

        status = claim_lessee(authority, lessee, layout->name, standing, err);
        if (status == SEQB_OK)
            status =
                compare_lessee(lessee->options.name, standing, layout, err);
    }
    return status;
}

enum seqb_status claim_layout(struct connection *connection,
                              const struct layout *layout,
                              const struct layout_claim *expected,
                              struct seqb_error *err)
{
    char standing[SEQB_CLAIM_SIZE];
    char claim[SEQB_COUNTER_SIZE];
    enum seqb_status status;

    claim_pool_name("pool", layout, claim, sizeof claim);
    status = connection_claim(connection, claim, expected->text, standing,
                              sizeof standing, err);
    if (status != SEQB_OK)
        return status;
    return layout_compare(connection_name(connection), standing, expected->text,
                          err);
}

enum seqb_status claim_verify(struct connection *connection,
                              const struct layout *layout,
                              const struct layout_claim *expected,
                              int32_t member, struct seqb_error *err)
{
    enum seqb_status status =
        verify_id(connection, expected->store_ids[member], err);

    if (status == SEQB_OK)
        status = claim_check_retired(connection, layout, err);
    if (status == SEQB_OK)
        status = verify_place(connection, layout, member, err);
    if (status == SEQB_OK && member == layout_authority(layout))
        status = verify_lessees(connection, layout, expected->backends, err);
    return status == SEQB_OK ? claim_layout(connection, layout, expected, err)
                             : status;
}

void claim_sequence_name(const struct claim_attributes *attributes,
                         int32_t generation, char *out, size_t size)
{
    char name[LAYOUT_POOL_SIZE];

    layout_internal_name(attributes->layout->name, generation, name,
                         sizeof name);
    (void)text_join(out, size,
                    (const char *[]){"sequence/", name, "/", attributes->key},
                    4);
}

enum seqb_status claim_read_sequence(struct connection *connection,
                                     const struct claim_attributes *attributes,
                                     int32_t generation, char *out, size_t size,
                                     struct seqb_error *err)
{
    char claim[SEQB_COUNTER_SIZE];

    claim_sequence_name(attributes, generation, claim, sizeof claim);
    return connection_claim(connection, claim, NULL, out, size, err);
}

/* The text of a sequence without window bits of its own is the same as before
 * sequences could have them. */
void claim_sequence_text(const struct claim_attributes *attributes, char *out,
                         size_t size)
{
    const int32_t window_bits =
        layout_window_bits(attributes->layout, attributes->window_bits);

    (void)text_format(out, size, "memory_bits=%d",
                      (int)attributes->memory_bits);
    if (window_bits != attributes->layout->window_bits)
        (void)text_append(out, size, " window_bits=%d", (int)window_bits);
    (void)text_append(out, size, "%s", attributes->more);
}

enum seqb_status claim_migrated(struct connection *connection,
                                const struct claim_attributes *attributes,
                                struct seqb_error *err)
{
    char claim[SEQB_COUNTER_SIZE];
    char text[CLAIM_SEQUENCE_SIZE];
    char standing[SEQB_CLAIM_SIZE];
    enum seqb_status status;

    claim_sequence_name(attributes, attributes->layout->generation, claim,
                        sizeof claim);
    claim_sequence_text(attributes, text, sizeof text);
    status = connection_claim(connection, claim, text, standing,
                              sizeof standing, err);
    if (status != SEQB_OK || strcmp(standing, text) == 0)
        return status;
    return error_set(err, SEQB_LAYOUT,
                     "sequence %s in backend %s was used with %s and is "
                     "configured with %s; nothing was changed; put the "
                     "settings back, others would issue old numbers again",
                     attributes->key, connection_name(connection), standing,
                     text);
}

enum seqb_status claim_check_moved(struct connection *connection,
                                   const struct layout *other, const char *key,
                                   const char *pool, struct seqb_error *err)
{
    const struct claim_attributes attributes = {.layout = other, .key = key};
    int32_t generation = layout_generations(other);
    char claim[SEQB_COUNTER_SIZE];
    char standing[CLAIM_SEQUENCE_SIZE] = "";
    enum seqb_status status = SEQB_OK;

    for (; status == SEQB_OK && standing[0] == '\0' && generation >= 1;
         generation--) {
        claim_sequence_name(&attributes, generation, claim, sizeof claim);
        status = connection_claim(connection, claim, NULL, standing,
                                  sizeof standing, err);
    }
    if (status != SEQB_OK || standing[0] == '\0')
        return status;
    return error_set(err, SEQB_LAYOUT,
                     "sequence %s was used in pool %s, as backend %s says, and "
                     "is configured in pool %s; nothing was changed; put it "
                     "back, it would issue old numbers again; or give it "
                     "another key; or, if its old numbers matter to nobody, "
                     "remove the claim '%s' from each store of pool %s",
                     key, other->name, connection_name(connection), pool, claim,
                     other->name);
}

/* A sequence that this store knows only from an earlier generation was not
 * among the keys of a migration: its counters would begin at 1 again. */
enum seqb_status claim_check_history(struct connection *connection,
                                     const struct claim_attributes *attributes,
                                     struct seqb_error *err)
{
    int32_t generation = attributes->layout->generation;
    char standing[CLAIM_SEQUENCE_SIZE];
    enum seqb_status status = claim_read_sequence(
        connection, attributes, generation, standing, sizeof standing, err);

    if (status != SEQB_OK || standing[0] != '\0')
        return status;
    while (status == SEQB_OK && --generation >= 1) {
        status = claim_read_sequence(connection, attributes, generation,
                                     standing, sizeof standing, err);
        if (status == SEQB_OK && standing[0] != '\0')
            return error_set(
                err, SEQB_LAYOUT,
                "sequence %s was used in generation %d of pool %s, as backend "
                "%s says, and was not migrated; nothing was changed; run "
                "seqctl migrate from that generation to the next again",
                attributes->key, (int)generation, attributes->layout->name,
                connection_name(connection));
    }
    return status;
}

/* The claims of a store that may forget prove nothing. */
bool claim_has_history(const struct connection *connection,
                       const struct claim_attributes *attributes)
{
    return attributes->layout->generation > 1 && store_remembers(connection);
}

enum seqb_status claim_sequence(struct connection *connection,
                                const struct claim_attributes *attributes,
                                struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    if (claim_has_history(connection, attributes))
        status = claim_check_history(connection, attributes, err);
    return status == SEQB_OK ? claim_migrated(connection, attributes, err)
                             : status;
}
