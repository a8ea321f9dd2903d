/* SPDX-License-Identifier: Apache-2.0 */
/* How one sequence's numbers are made in the old and the new pool, by the
 * topologies and by the stores' claims. */
#include "offline/migrate.h"
#include "offline/offline.h"
#include "platform/error.h"

/* If the topology and the stores both have the bits, they must be equal. Keys
 * of auto_sequences may have been used with different ones, if these settings
 * changed since. */
static enum seqb_status bits_compare(const struct migrate_side *was,
                                     const struct offline_key *options,
                                     const struct migrate_bits *claimed,
                                     struct seqb_error *err)
{
    const bool is_memory = claimed->memory_bits != options->was_bits;
    const char *setting = is_memory ? "memory_bits" : "window_bits";
    const int32_t used =
        is_memory ? claimed->memory_bits : claimed->window_bits;

    if (!is_memory && claimed->window_bits == options->was_window_bits)
        return SEQB_OK;
    return error_set(
        err, SEQB_LAYOUT,
        "sequence %s of pool %s was used with %s = %d, and the old topology "
        "says %d; nothing was changed; write %d there; if only auto_sequences "
        "match it, list it in sequences: { key = \"%s\"; pool = \"%s\"; "
        "%s = %d; }",
        options->key, was->name, setting, (int)used,
        (int)(is_memory ? options->was_bits : options->was_window_bits),
        (int)used, options->key, was->name, setting, (int)used);
}

/* The bits of a key that no store knows. */
static struct migrate_bits bits_guess(const struct migrate_side *was,
                                      const struct offline_key *options)
{
    const int32_t memory_bits = options->is_bits >= 0 ? options->is_bits : 0;

    if (options->was_bits < 0)
        return (struct migrate_bits){.memory_bits = memory_bits,
                                     .window_bits = was->layout->window_bits};
    return (struct migrate_bits){.memory_bits = options->was_bits,
                                 .window_bits = options->was_window_bits};
}

/* A key that the new topology does not list keeps its bits. It also keeps
 * windows of its own, if the new pool has windows. */
static struct migrate_bits bits_next(const struct migrate_side *was,
                                     const struct migrate_side *is,
                                     const struct offline_key *options,
                                     const struct migrate_bits *bits)
{
    const bool are_own = bits->window_bits != was->layout->window_bits;

    if (options->is_bits >= 0)
        return (struct migrate_bits){.memory_bits = options->is_bits,
                                     .window_bits = options->is_window_bits};
    return (struct migrate_bits){.memory_bits = bits->memory_bits,
                                 .window_bits = are_own && side_has(is, true)
                                                    ? bits->window_bits
                                                    : is->layout->window_bits};
}

static struct migrate_shape shape_of(const struct migrate_side *side,
                                     const struct migrate_bits *bits,
                                     int64_t useful)
{
    return (struct migrate_shape){.bits = side->layout->bits,
                                  .memory_bits = bits->memory_bits,
                                  .window_bits = bits->window_bits,
                                  .margin = side->failover_gap,
                                  .lessor_bits = side->lessor_bits,
                                  .useful = useful};
}

/* Whether one store leases the windows of the others, and alone knows which. */
static bool is_leased(const struct migrate_side *side)
{
    return side_has(side, true) && !side->layout->neighbours;
}

enum seqb_status key_read(struct migrate_side *was, struct migrate_side *is,
                          const struct offline_key *options,
                          struct migrate_key *key, struct seqb_error *err)
{
    struct migrate_bits bits;
    struct migrate_bits next;
    struct migrate_done was_done;

    if (side_compare_key(was, options->key, &was_done, err) != SEQB_OK ||
        side_read_bits(was, options->key, options->attributes, &bits, err) !=
            SEQB_OK ||
        side_check_history(was, options->key, err) != SEQB_OK)
        return err->status;
    if (bits.memory_bits >= 0 && options->was_bits >= 0 &&
        bits_compare(was, options, &bits, err) != SEQB_OK)
        return SEQB_LAYOUT;
    /* The key is new if no bits are claimed: brokers claim them before they
     * take the first value. */
    *key = (struct migrate_key){.key = options->key,
                                .attributes = options->attributes,
                                .is_claimed = bits.memory_bits >= 0,
                                .is_new = bits.memory_bits < 0 &&
                                          options->was_bits < 0 &&
                                          options->is_bits >= 0};
    if (bits.memory_bits < 0)
        bits = bits_guess(was, options);
    next = bits_next(was, is, options, &bits);
    /* Old counters are raised to the end of all bits, even if their numbers
     * were limited to fewer. */
    key->was = shape_of(was, &bits, options->was_useful);
    key->is = shape_of(is, &next, options->is_useful);
    key->is.unused_bits = LAYOUT_BITS_ALL - options->is_value_bits;
    if (new_read(is, key, err) != SEQB_OK)
        return err->status;
    return key->is_noted && !is_leased(was) && !is_leased(is)
               ? SEQB_OK
               : old_check_back(was, err);
}
