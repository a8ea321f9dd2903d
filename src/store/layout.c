/* SPDX-License-Identifier: Apache-2.0 */
/* The layout's text form: fields `name=value;`, with the partitions' stores as
 * one list separated by commas. */
#include "store/layout.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/error.h"
#include "platform/text.h"

/* The authority of a layout without leases. */
#define NO_AUTHORITY "none"

/* The authority of a layout in which the other direct stores of the pool
 * lease. */
#define NEIGHBOURS "neighbours"

/* The value of `windows` if stores count in windows that need not. Other
 * layouts do not have the field. */
#define ALL_WINDOWS "all"

void layout_internal_name(const char *pool, int32_t generation, char *out,
                          size_t size)
{
    if (generation > 1)
        (void)text_format(out, size, "%s~%d", pool, (int)generation);
    else
        (void)text_copy(out, size, pool);
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

bool layout_may_lease(const struct seqb_backend_ops *ops)
{
    return ops->guarantee == SEQB_DIRECT && ops->install != NULL &&
           ops->list != NULL;
}

int32_t layout_lessor_count(const struct layout *layout,
                            const struct store_options *backends)
{
    int32_t count = 0;

    for (int32_t i = 0; layout->neighbours && i < 1 << layout->bits; i++)
        count += layout_may_lease(backends[layout->partitions[i]].ops);
    return count;
}

int32_t layout_lessor(const struct layout *layout, int32_t i,
                      const struct store_options *backends)
{
    int32_t partition = 0;

    while (!layout_may_lease(backends[layout->partitions[partition]].ops) ||
           i-- > 0)
        partition++;
    return partition;
}

int32_t layout_lessor_bits(int32_t count)
{
    int32_t bits = 0;

    while (1 << bits < count)
        bits++;
    return bits;
}

bool layout_is_windowed(const struct layout *layout, int32_t member,
                        const struct seqb_backend_ops *ops)
{
    if (ops->guarantee == SEQB_WINDOWED)
        return true;
    if (layout->neighbours)
        return member < 1 << layout->bits;
    return layout->all_windowed && member < 1 << layout->bits &&
           member != layout_authority(layout);
}

struct layout_store layout_store_of(const struct store_options *backend)
{
    return (struct layout_store){.backend = backend->options.name,
                                 .forgets =
                                     backend->ops->guarantee == SEQB_WINDOWED};
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
    for (int32_t i = 0; i < count; i++) {
        const struct store_options *backend =
            &backends[layout_member(layout, i)];

        stores->stores[i] = layout_store_of(backend);
        stores->stores[i].is_windowed =
            layout_is_windowed(layout, i, backend->ops);
    }
    return SEQB_OK;
}

void layout_stores_fini(struct layout_stores *stores)
{
    free(stores->stores);
    stores->stores = NULL;
}

/* --- the claim --- */

/* The layout's value of `authority`: who leases windows. */
static const char *authority_word(const struct layout *layout,
                                  const struct layout_stores *stores,
                                  bool is_windowed)
{
    if (layout->neighbours)
        return NEIGHBOURS;
    return is_windowed && stores->authority >= 0
               ? stores->stores[stores->authority].id
               : NO_AUTHORITY;
}

static bool has_windowed(const struct layout_stores *stores)
{
    for (int32_t i = 0; i < stores->partitions; i++) {
        if (stores->stores[i].is_windowed)
            return true;
    }
    return false;
}

/* Whether a store counts in windows although it does not forget. */
static bool has_willing(const struct layout_stores *stores)
{
    for (int32_t i = 0; i < stores->partitions; i++) {
        if (stores->stores[i].is_windowed && !stores->stores[i].forgets)
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
    const char *authority = authority_word(layout, stores, is_windowed);
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
    if (!layout->neighbours && has_willing(stores))
        fits = text_append(out, size, ";windows=" ALL_WINDOWS) && fits;
    if (!fits)
        return error_set(err, SEQB_LAYOUT, "pool %s: the layout is too long",
                         layout->name);
    return SEQB_OK;
}

bool layout_is_earlier(const struct layout *layout, const char *text)
{
    char name[LAYOUT_POOL_SIZE];
    char head[LAYOUT_POOL_SIZE + sizeof "pool=;"];

    for (int32_t i = 1; i < layout->generation; i++) {
        layout_internal_name(layout->name, i, name, sizeof name);
        (void)text_format(head, sizeof head, "pool=%s;", name);
        if (strncmp(text, head, strlen(head)) == 0)
            return true;
    }
    return false;
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
    return store->is_reached && !store->forgets && store->id[0] != '\0';
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

/* Copies the value of a field, or "" if the text has no such field. */
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

/* Copies the i-th word of a list separated by commas, or "". */
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

bool layout_is_unclaimed(const struct layout_store *store)
{
    return store->is_reached && !store->forgets && store->layout[0] == '\0';
}

void layout_named(const char *standing, const struct layout_stores *stores,
                  int32_t i, char out[LAYOUT_STORE_SIZE])
{
    char list[SEQB_CLAIM_SIZE];

    if (i < stores->partitions) {
        field_copy(standing, "partitions", list, sizeof list);
        word_copy(list, i, out, LAYOUT_STORE_SIZE);
        return;
    }
    field_copy(standing, "authority", out, LAYOUT_STORE_SIZE);
    if (strcmp(out, NO_AUTHORITY) == 0 || strcmp(out, NEIGHBOURS) == 0)
        out[0] = '\0';
}

void layout_adopt(const char *standing, struct layout_stores *stores)
{
    for (int32_t i = 0; i < stores->count; i++) {
        struct layout_store *store = &stores->stores[i];
        char named[LAYOUT_STORE_SIZE];

        layout_named(standing, stores, i, named);
        if (named[0] != '\0' &&
            (store->id[0] == '\0' || layout_is_unclaimed(store)))
            (void)text_copy(store->id, sizeof store->id, named);
    }
}

/* The place of a word in a list, -1 if it is not there. */
static int32_t word_find(const char *list, const char *word)
{
    char found[LAYOUT_STORE_SIZE];

    for (int32_t i = 0; i < STORE_PARTITIONS_MAX && word[0] != '\0'; i++) {
        word_copy(list, i, found, sizeof found);
        if (strcmp(found, word) == 0)
            return i;
    }
    return -1;
}

/* The first partition that differs; an operator who swapped two knows them by
 * their places rather than by the ids of their stores. */
static void describe_partition(const char *was, const char *is, char *out,
                               size_t size)
{
    char a[LAYOUT_STORE_SIZE];
    char b[LAYOUT_STORE_SIZE];

    for (int32_t i = 0; i < STORE_PARTITIONS_MAX; i++) {
        word_copy(was, i, a, sizeof a);
        word_copy(is, i, b, sizeof b);
        if (strcmp(a, b) == 0)
            continue;
        (void)text_append(out, size, "partition %d was store '%s' and is '%s'",
                          (int)i, a, b);
        if (word_find(was, b) >= 0)
            (void)text_append(out, size, ", which was partition %d",
                              (int)word_find(was, b));
        return;
    }
}

/* Appends a description of how one field differs; nothing if it does not. */
static void describe_field(const char *name, const char *standing,
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
        describe_partition(was, is, out, size);
    else if (strcmp(name, "windows") == 0)
        (void)text_append(out, size, "windows was %s and is %s",
                          was[0] == '\0' ? "needed" : was,
                          is[0] == '\0' ? "needed" : is);
    else
        (void)text_append(out, size, "%s was %s and is %s", name, was, is);
}

/* The advice for the operator. By default a pool of servers has neighbours. A
 * pool that was created before that default, or with "none", must now set
 * it. */
static const char *way_on(const char *standing, const char *expected)
{
    char was[SEQB_CLAIM_SIZE];
    char is[SEQB_CLAIM_SIZE];

    field_copy(standing, "authority", was, sizeof was);
    field_copy(expected, "authority", is, sizeof is);
    if (strcmp(was, NO_AUTHORITY) == 0 && strcmp(is, NEIGHBOURS) == 0)
        return "write authority = \"none\" in the pool to go on as it was, or "
               "give it another generation and run seqctl migrate";
    return "put the topology back as it was";
}

enum seqb_status layout_compare(const char *backend, const char *standing,
                                const char *expected, struct seqb_error *err)
{
    static const char *const fields[] = {
        "pool",       "bits",    "window_bits", "authority",
        "partitions", "windows", "memory_bits"};
    char words[512] = "";

    if (strcmp(standing, expected) == 0)
        return SEQB_OK;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        describe_field(fields[i], standing, expected, words, sizeof words);
    if (words[0] == '\0')
        (void)text_format(words, sizeof words, "its claim reads '%s'",
                          standing);
    return error_set(err, SEQB_LAYOUT,
                     "backend %s was used with another layout: %s; nothing "
                     "was changed; %s: another layout would issue old numbers "
                     "again",
                     backend, words, way_on(standing, expected));
}
