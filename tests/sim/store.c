/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in a model of a store, and what becomes of it. */
#include "store.h"

#include <stdlib.h>
#include <string.h>

#include "platform/text.h"
#include "store/term.h"
#include "store_cell.h"

const struct store_guard_name store_guards[STORE_GUARDS] = {
    {"origin", STORE_ORIGIN}, {"replid", STORE_REPLID},
    {"role", STORE_ROLE},     {"gap", STORE_GAP},
    {"base", STORE_BASE},     {"spread", STORE_SPREAD},
};

int64_t store_origin(const struct store *store, int32_t side)
{
    const struct store_side *at = &store->sides[side];

    return (store->without & STORE_REPLID) != 0
               ? at->server << 32
               : at->server << 32 | at->history;
}

struct store_cell *store_find(struct store *store, int32_t side,
                              const char *counter)
{
    struct store_content *content = &store->sides[side].content;

    for (int32_t i = 0; i < content->count; i++) {
        if (strcmp(content->cells[i].counter, counter) == 0)
            return &content->cells[i];
    }
    return NULL;
}

struct store_cell *store_put(struct store *store, int32_t side,
                             const char *counter, int64_t value)
{
    struct store_content *content = &store->sides[side].content;
    struct store_cell *cell = store_find(store, side, counter);

    if (cell == NULL && content->count == STORE_CELLS)
        abort(); /* a scenario with too many counters */
    if (cell == NULL) {
        cell = &content->cells[content->count++];
        *cell = (struct store_cell){0};
    }
    (void)text_copy(cell->counter, sizeof cell->counter, counter);
    cell->value = value;
    cell->origin = store_origin(store, side);
    cell->run = store->sides[side].run;
    return cell;
}

void store_drop(struct store *store, int32_t side, struct store_cell *cell)
{
    struct store_content *content = &store->sides[side].content;

    *cell = content->cells[--content->count];
}

void store_expire(struct store *store, int32_t side, int64_t now_us)
{
    struct store_content *content = &store->sides[side].content;

    for (int32_t i = content->count - 1; i >= 0; i--) {
        const int64_t until_us = content->cells[i].until_us;

        if (until_us != 0 && until_us <= now_us)
            store_drop(store, side, &content->cells[i]);
    }
}

static int64_t name_new(struct store *store)
{
    return ++store->servers;
}

void store_init(struct store *store, bool is_windowed, int without)
{
    *store = (struct store){.is_windowed = is_windowed,
                            .without = without,
                            .has_clock = store->has_clock,
                            .ahead_ms = store->ahead_ms};
    store->sides[0].server = name_new(store);
    store->sides[0].history = name_new(store);
    store->sides[0].run = name_new(store);
    if (!is_windowed)
        (void)store_put(store, 0, STORE_BASE_CELL, 0);
    store_copy(store);
    for (int32_t i = 0; i < STORE_PASTS; i++)
        store_keep(store, i);
}

void store_fini(struct store *store)
{
    for (int32_t i = 0; i < store->claim_count; i++) {
        free(store->claims[i].name);
        free(store->claims[i].text);
    }
}

struct store_row *store_row_find(struct store *store, int32_t side,
                                 const char *name)
{
    struct store_content *content = &store->sides[side].content;

    for (int32_t i = 0; i < content->row_count; i++) {
        if (strcmp(content->rows[i].name, name) == 0)
            return &content->rows[i];
    }
    return NULL;
}

void store_row_put(struct store *store, int32_t side, const char *name,
                   const char *text)
{
    struct store_content *content = &store->sides[side].content;
    struct store_row *row = store_row_find(store, side, name);

    if (row == NULL && content->row_count == STORE_ROWS)
        abort(); /* a scenario with too many of them */
    if (row == NULL)
        row = &content->rows[content->row_count++];
    if (!text_copy(row->name, sizeof row->name, name) ||
        !text_copy(row->text, sizeof row->text, text))
        abort();
}

/* The claim with that name, and that text if it is given; -1: there is none. */
static int32_t claim_find(const struct store *store, const bool *has_claim,
                          const char *name, const char *text)
{
    for (int32_t i = 0; i < store->claim_count; i++) {
        if ((has_claim == NULL || has_claim[i]) &&
            strcmp(store->claims[i].name, name) == 0 &&
            (text == NULL || strcmp(store->claims[i].text, text) == 0))
            return i;
    }
    return -1;
}

bool store_has_claim(const struct store *store,
                     const struct store_content *content, const char *name)
{
    return claim_find(store, content->has_claim, name, NULL) >= 0;
}

static int32_t claim_new(struct store *store, const char *name,
                         const char *text)
{
    struct store_claim *claim = &store->claims[store->claim_count];

    if (store->claim_count == STORE_CLAIMS)
        abort();
    claim->name = text_copy_of(name);
    claim->text = text_copy_of(text);
    if (claim->name == NULL || claim->text == NULL)
        abort();
    return store->claim_count++;
}

const char *store_claim(struct store *store, int32_t side, const char *name,
                        const char *text)
{
    const struct store_row *row = store_row_find(store, side, name);
    bool *has_claim = store->claims_go_back
                          ? store->sides[side].content.has_claim
                          : store->has_claim;
    int32_t i;

    if (row != NULL)
        return row->text;
    i = claim_find(store, has_claim, name, NULL);
    if (i >= 0)
        return store->claims[i].text;
    if (text == NULL)
        return "";
    i = claim_find(store, NULL, name, text);
    if (i < 0)
        i = claim_new(store, name, text);
    has_claim[i] = true;
    return store->claims[i].text;
}

/* --- what becomes of it --- */

void store_copy(struct store *store)
{
    store->copy = store->sides[0].content;
}

void store_promote_copy(struct store *store)
{
    store->went_back = true;
    store->sides[0] = (struct store_side){.content = store->copy,
                                          .server = name_new(store),
                                          .history = name_new(store),
                                          .run = name_new(store)};
}

void store_demote(struct store *store)
{
    store->went_back = true;
    store->sides[0].content = store->copy;
    store->sides[0].history = name_new(store);
    store->sides[0].run = name_new(store);
    store->sides[0].is_replica = true;
}

void store_promote_again(struct store *store)
{
    store->sides[0].history = name_new(store);
    store->sides[0].is_replica = false;
}

void store_split(struct store *store)
{
    store->sides[1] = (struct store_side){.content = store->copy,
                                          .server = name_new(store),
                                          .history = name_new(store),
                                          .run = name_new(store)};
}

void store_join(struct store *store)
{
    store->went_back = true;
    store->sides[0] = store->sides[1];
}

void store_replicate(struct store *store)
{
    struct store_side *replica = &store->sides[1];

    if (!replica->is_replica)
        replica->server = replica->run = name_new(store);
    replica->is_replica = true;
    replica->history = store->sides[0].history;
    replica->content = store->sides[0].content;
}

void store_empty(struct store *store)
{
    store->went_back = true;
    store->sides[0].content.count = 0;
    store->sides[0].content.row_count = 0;
    if (!store->is_windowed)
        return;
    memset(store->has_claim, 0, sizeof store->has_claim);
    memset(store->sides[0].content.has_claim, 0, sizeof store->has_claim);
}

void store_restart(struct store *store, bool has_copy)
{
    store->sides[0].run = name_new(store);
    if (!store->is_windowed)
        return;
    if (has_copy)
        store->sides[0].content = store->copy;
    else
        store_empty(store);
    store->sides[0].server = name_new(store);
}

void store_keep(struct store *store, int32_t past)
{
    store->pasts[past] = store->sides[0];
}

void store_put_back(struct store *store, int32_t past, bool is_known)
{
    store->went_back = true;
    store->sides[0] = store->pasts[past];
    store->sides[0].is_replica = false; /* it may have been saved as one */
    store->sides[0].run = name_new(store);
    if (!is_known)
        store->sides[0].history = name_new(store);
}

void store_incarnation(const struct store *store, int32_t side, char *out,
                       size_t size)
{
    (void)text_format(out, size, "run-%lld", (long long)store->sides[side].run);
}

bool store_is_level(struct store *store, const char *synced)
{
    char incarnation[SEQB_INCARNATION_SIZE];
    char nonce[TERM_NONCE_SIZE];

    store_incarnation(store, 0, incarnation, sizeof incarnation);
    return term_read(store_claim(store, 0, synced, NULL), incarnation, nonce);
}

void store_go_back(struct store *store, int64_t values)
{
    struct store_content *content = &store->sides[0].content;

    for (int32_t i = 0; i < content->count; i++) {
        struct store_cell *cell = &content->cells[i];

        if (!store_is_time(cell))
            cell->value = cell->value > values ? cell->value - values : 0;
    }
}

void store_advance(struct store *store, bool is_lease, int64_t value)
{
    struct store_content *content = &store->sides[0].content;

    for (int32_t i = 0; i < content->count; i++) {
        struct store_cell *cell = &content->cells[i];

        if (cell->counter[0] != '\0' && !store_is_time(cell) &&
            cell->value < value &&
            is_lease == (strncmp(cell->counter, "window/", 7) == 0)) {
            cell->skipped += value - cell->value;
            cell->value = value;
        }
    }
}

/* Of the base, none. */
static int64_t cell_granted(const struct store_cell *cell)
{
    if (store_is_time(cell) || cell->counter[0] == '\0')
        return 0;
    return cell->value - cell->skipped;
}

int64_t store_highest(const struct store *store)
{
    const struct store_content *content = &store->sides[0].content;
    int64_t highest = 0;

    for (int32_t i = 0; i < content->count; i++) {
        if (!store_is_time(&content->cells[i]) &&
            content->cells[i].value > highest)
            highest = content->cells[i].value;
    }
    return highest;
}

bool store_is_new(const struct store_content *content)
{
    for (int32_t i = 0; i < STORE_CLAIMS; i++) {
        if (content->has_claim[i])
            return false;
    }
    return true;
}

bool store_serves(const struct store *store, int32_t side)
{
    return !store->sides[side].is_replica || (store->without & STORE_ROLE) != 0;
}

/* The value that the counter has in the copy, or would begin after; or how many
 * of them were granted. */
static int64_t copied_value(const struct store_content *copy,
                            const char *counter, bool counts_raises)
{
    int64_t base = 0;

    for (int32_t i = 0; i < copy->count; i++) {
        const struct store_cell *cell = &copy->cells[i];

        if (strcmp(cell->counter, counter) == 0)
            return counts_raises ? cell->value : cell_granted(cell);
        if (cell->counter[0] == '\0')
            base = cell->value;
    }
    return counts_raises ? base : 0;
}

int64_t store_lacks(const struct store *store, const struct store_content *copy,
                    bool counts_raises)
{
    const struct store_content *content = &store->sides[0].content;
    int64_t most = 0;

    for (int32_t i = 0; i < content->count; i++) {
        const struct store_cell *cell = &content->cells[i];
        const int64_t value = counts_raises ? cell->value : cell_granted(cell);
        const int64_t loss =
            value - copied_value(copy, cell->counter, counts_raises);

        if (!store_is_time(cell) && loss > most)
            most = loss;
    }
    return most;
}

int64_t store_loss(const struct store *store, bool counts_raises)
{
    return store_lacks(store, &store->copy, counts_raises);
}

bool store_is_known(const struct store *store, const struct store_mark *marks,
                    int32_t count, int64_t gap)
{
    const struct store_content *content = &store->sides[0].content;

    for (int32_t i = 0; i < content->count; i++) {
        const struct store_cell *cell = &content->cells[i];
        int32_t k = 0;

        while (k < count && strcmp(marks[k].counter, cell->counter) != 0)
            k++;
        if (cell->counter[0] != '\0' && !store_is_time(cell) &&
            (k == count || cell->value - marks[k].value >= gap))
            return false;
    }
    return true;
}
