/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of a number, ((v << bits) | partition) << memory_bits | k as
 * in docs/architecture.md, and the layout's text: fields `name=value;`, the
 * partitions' stores as one list with commas.
 */
#include "store/layout.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/error.h"
#include "platform/text.h"

/* What a layout without leases says. */
#define NO_AUTHORITY "none"

int64_t layout_counter_max(int32_t bits, int32_t memory_bits)
{
    return INT64_MAX >> (bits + memory_bits);
}

int64_t layout_window_max(int32_t bits, int32_t memory_bits,
                          int32_t window_bits)
{
    const int32_t spent = bits + memory_bits + window_bits;

    return spent < LAYOUT_BITS_ALL ? INT64_MAX >> spent : 0;
}

int64_t layout_number(int64_t v, int32_t partition, int32_t bits,
                      int32_t memory_bits)
{
    assert(v >= 0 && v <= layout_counter_max(bits, memory_bits));
    assert(partition >= 0 && partition < (1 << bits));
    return (v << bits | partition) << memory_bits;
}

void layout_decode(int64_t number, int32_t bits, int32_t memory_bits,
                   struct seqb_decoded *out)
{
    const int64_t run = number >> memory_bits;

    out->counter = run >> bits;
    out->partition = (int32_t)(run & ((1 << bits) - 1));
    out->memory_bits = memory_bits;
    out->memory = number & (((int64_t)1 << memory_bits) - 1);
}

void layout_internal_name(const char *pool, int32_t generation, char *out,
                          size_t size)
{
    if (generation > 1)
        (void)text_format(out, size, "%s~%d", pool, (int)generation);
    else
        (void)text_copy(out, size, pool);
}

void layout_store_name(const struct store_options *backend, char *out,
                       size_t size)
{
    const struct seqb_backend_options *options = &backend->options;

    (void)text_copy(out, size, options->name);
    if (backend->ops->guarantee == SEQB_LOCAL)
        (void)text_append(out, size, ":%d|%d|%d@%lld", (int)options->time_bits,
                          (int)options->worker_bits, (int)options->counter_bits,
                          (long long)options->epoch_ms);
}

/* --- members and their stores --- */

static bool has_own_authority(const struct layout *layout)
{
    return layout->authority >= 0 &&
           layout_authority(layout) == 1 << layout->bits;
}

int32_t layout_member_count(const struct layout *layout)
{
    return (1 << layout->bits) + has_own_authority(layout);
}

int32_t layout_member(const struct layout *layout, int32_t i)
{
    return i < 1 << layout->bits ? layout->partitions[i] : layout->authority;
}

int32_t layout_authority(const struct layout *layout)
{
    int32_t i = 0;

    if (layout->authority < 0)
        return -1;
    while (i < 1 << layout->bits && layout->partitions[i] != layout->authority)
        i++;
    return i;
}

struct layout_store layout_store_of(const struct store_options *backend)
{
    return (struct layout_store){
        .backend = backend->options.name,
        .is_windowed = backend->ops->guarantee == SEQB_WINDOWED,
        .is_local = backend->ops->guarantee == SEQB_LOCAL};
}

enum seqb_status layout_stores_init(struct layout_stores *stores,
                                    const struct layout *layout,
                                    const struct store_options *backends,
                                    struct seqb_error *err)
{
    const int32_t count = layout_member_count(layout);

    *stores = (struct layout_stores){
        .stores = calloc((size_t)count, sizeof *stores->stores),
        .count = count,
        .partitions = 1 << layout->bits,
        .authority = layout_authority(layout)};
    if (stores->stores == NULL)
        return error_set(err, SEQB_NO_MEMORY, "pool %s: out of memory",
                         layout->name);
    for (int32_t i = 0; i < count; i++)
        stores->stores[i] =
            layout_store_of(&backends[layout_member(layout, i)]);
    return SEQB_OK;
}

void layout_stores_fini(struct layout_stores *stores)
{
    free(stores->stores);
    stores->stores = NULL;
}

/* --- the claim --- */

static bool has_windowed(const struct layout_stores *stores)
{
    for (int32_t i = 0; i < stores->partitions; i++) {
        if (stores->stores[i].is_windowed)
            return true;
    }
    return false;
}

/* Of windows, or of worker ids. */
static bool has_leases(const struct layout_stores *stores)
{
    for (int32_t i = 0; i < stores->partitions; i++) {
        if (layout_is_named(&stores->stores[i]))
            return true;
    }
    return false;
}

enum seqb_status layout_compose(const struct layout *layout,
                                const struct layout_stores *stores, char *out,
                                size_t size, struct seqb_error *err)
{
    char name[LAYOUT_POOL_SIZE];
    const bool is_windowed = has_windowed(stores);
    const char *authority = has_leases(stores) && stores->authority >= 0
                                ? stores->stores[stores->authority].id
                                : NO_AUTHORITY;
    bool fits;

    layout_internal_name(layout->name, layout->generation, name, sizeof name);
    fits = text_format(out, size,
                       "pool=%s;bits=%d;window_bits=%d;authority=%s;"
                       "partitions=",
                       name, (int)layout->bits,
                       is_windowed ? (int)layout->window_bits : 0, authority);
    for (int32_t i = 0; i < stores->partitions; i++)
        fits = text_append(out, size, "%s%s", i == 0 ? "" : ",",
                           stores->stores[i].id) &&
               fits;
    if (!fits)
        return error_set(err, SEQB_LAYOUT, "pool %s: the layout is too long",
                         layout->name);
    return SEQB_OK;
}

const struct layout_store *layout_find_claim(const struct layout_stores *stores)
{
    for (int32_t i = 0; i < stores->count; i++) {
        if (stores->stores[i].is_reached && stores->stores[i].layout[0] != 0)
            return &stores->stores[i];
    }
    return NULL;
}

enum seqb_status layout_not_migrated(const struct layout *layout,
                                     struct seqb_error *err)
{
    const int generation = (int)layout->generation;

    return error_set(err, SEQB_LAYOUT,
                     "pool %s: no backend that was reached knows its "
                     "generation %d; nothing was changed; run seqctl migrate "
                     "first, from the topology with generation %d to this one",
                     layout->name, generation, generation - 1);
}

static bool is_known(const struct layout_store *store)
{
    return store->is_reached && !layout_is_named(store) && store->id[0] != '\0';
}

bool layout_find_twins(const struct layout_stores *stores,
                       const struct layout_store **a,
                       const struct layout_store **b)
{
    for (int32_t i = 0; i < stores->count; i++) {
        for (int32_t j = 0; j < i; j++) {
            *a = &stores->stores[j];
            *b = &stores->stores[i];
            if (is_known(*a) && is_known(*b) && strcmp((*a)->id, (*b)->id) == 0)
                return true;
        }
    }
    return false;
}

const struct layout_store *
layout_find_stranger(const struct layout_stores *stores,
                     const struct layout_store *past)
{
    const struct layout_store *store = past == NULL ? stores->stores : past + 1;

    for (; store < stores->stores + stores->count; store++) {
        if (store->is_reached && !layout_is_named(store) &&
            store->id[0] == '\0')
            return store;
    }
    return NULL;
}

/* Copies the value of a field, or "" if the text has none of that name. */
static void field_copy(const char *text, const char *name, char *out,
                       size_t size)
{
    const size_t length = strlen(name);

    out[0] = '\0';
    for (const char *at = text; at != NULL; at = strchr(at, ';')) {
        at += *at == ';';
        if (strncmp(at, name, length) == 0 && at[length] == '=') {
            (void)text_format(out, size, "%.*s",
                              (int)strcspn(at + length + 1, ";"),
                              at + length + 1);
            return;
        }
    }
}

/* Copies the i-th word of a list with commas, or "". */
static void word_copy(const char *list, int32_t i, char *out, size_t size)
{
    while (i-- > 0 && list != NULL) {
        list = strchr(list, ',');
        if (list != NULL)
            list++;
    }
    (void)text_format(out, size, "%.*s",
                      list == NULL ? 0 : (int)strcspn(list, ","),
                      list == NULL ? "" : list);
}

void layout_adopt(const char *standing, struct layout_stores *stores)
{
    char list[SEQB_CLAIM_SIZE];

    field_copy(standing, "partitions", list, sizeof list);
    for (int32_t i = 0; i < stores->partitions; i++) {
        struct layout_store *store = &stores->stores[i];

        if (store->id[0] == '\0')
            word_copy(list, i, store->id, sizeof store->id);
    }
    if (stores->authority >= 0) {
        struct layout_store *store = &stores->stores[stores->authority];

        if (store->id[0] == '\0')
            field_copy(standing, "authority", store->id, sizeof store->id);
        if (strcmp(store->id, NO_AUTHORITY) == 0)
            store->id[0] = '\0';
    }
}

static void tell_partition(const char *was, const char *is, char *out,
                           size_t size)
{
    char a[LAYOUT_STORE_SIZE];
    char b[LAYOUT_STORE_SIZE];

    for (int32_t i = 0; i < STORE_PARTITIONS_MAX; i++) {
        word_copy(was, i, a, sizeof a);
        word_copy(is, i, b, sizeof b);
        if (strcmp(a, b) != 0) {
            (void)text_append(out, size,
                              "partition %d was store '%s' and is '%s'", (int)i,
                              a, b);
            return;
        }
    }
}

/* Appends in words how one field differs; nothing if it does not. */
static void tell_field(const char *name, const char *standing,
                       const char *expected, char *out, size_t size)
{
    char was[SEQB_CLAIM_SIZE];
    char is[SEQB_CLAIM_SIZE];

    field_copy(standing, name, was, sizeof was);
    field_copy(expected, name, is, sizeof is);
    if (strcmp(was, is) == 0)
        return;
    if (out[0] != '\0')
        (void)text_append(out, size, ", ");
    if (strcmp(name, "partitions") == 0)
        tell_partition(was, is, out, size);
    else
        (void)text_append(out, size, "%s was %s and is %s", name, was, is);
}

enum seqb_status layout_compare(const char *backend, const char *standing,
                                const char *expected, struct seqb_error *err)
{
    static const char *const fields[] = {"pool",        "bits",
                                         "window_bits", "authority",
                                         "partitions",  "memory_bits"};
    char words[512] = "";

    if (strcmp(standing, expected) == 0)
        return SEQB_OK;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        tell_field(fields[i], standing, expected, words, sizeof words);
    if (words[0] == '\0')
        (void)text_format(words, sizeof words, "its claim reads '%s'",
                          standing);
    return error_set(err, SEQB_LAYOUT,
                     "backend %s was used with another layout: %s; nothing "
                     "was changed; put the topology back as it was, another "
                     "layout would issue old numbers again",
                     backend, words);
}
