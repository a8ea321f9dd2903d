/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of bits in a hash table with open addressing. */
#include "oracle.h"

#include <stdlib.h>

#define PAGE_SHIFT     12
#define PAGE_NUMBERS   (1 << PAGE_SHIFT)
#define CAPACITY_FIRST 1024

struct oracle_page {
    uint64_t name; /* its numbers without their low bits */
    uint64_t bits[PAGE_NUMBERS / 64];
};

static void *memory_new(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (memory == NULL)
        abort();
    return memory;
}

/* Where the page is, or belongs. */
static struct oracle_place *table_find(struct oracle_place *table,
                                       size_t capacity, uint64_t name)
{
    size_t i = (name * 0x9e3779b97f4a7c15U) >> 20 & (capacity - 1);

    while (table[i].page != NULL && table[i].page->name != name)
        i = (i + 1) & (capacity - 1);
    return &table[i];
}

static void table_grow(struct oracle *oracle)
{
    const size_t capacity = oracle->capacity * 2;
    struct oracle_place *table = memory_new(capacity, sizeof *table);

    for (size_t i = 0; i < oracle->capacity; i++) {
        struct oracle_page *page = oracle->table[i].page;

        if (page != NULL)
            table_find(table, capacity, page->name)->page = page;
    }
    free(oracle->table);
    oracle->table = table;
    oracle->capacity = capacity;
}

static struct oracle_page *page_of(struct oracle *oracle, uint64_t name)
{
    struct oracle_place *place =
        table_find(oracle->table, oracle->capacity, name);

    if (place->page != NULL)
        return place->page;
    if (oracle->pages * 2 >= oracle->capacity) {
        table_grow(oracle);
        place = table_find(oracle->table, oracle->capacity, name);
    }
    place->page = memory_new(1, sizeof *place->page);
    place->page->name = name;
    oracle->pages++;
    return place->page;
}

void oracle_init(struct oracle *oracle)
{
    *oracle = (struct oracle){.capacity = CAPACITY_FIRST};
    oracle->table = memory_new(oracle->capacity, sizeof *oracle->table);
}

void oracle_fini(struct oracle *oracle)
{
    for (size_t i = 0; i < oracle->capacity; i++)
        free(oracle->table[i].page);
    free(oracle->table);
}

static void hear_one(struct oracle *oracle, int64_t number)
{
    struct oracle_page *page = page_of(oracle, (uint64_t)number >> PAGE_SHIFT);
    const uint64_t at = (uint64_t)number & (PAGE_NUMBERS - 1);
    const uint64_t bit = (uint64_t)1 << (at & 63);

    if ((page->bits[at >> 6] & bit) != 0) {
        if (oracle->repeats == 0)
            oracle->repeated = number;
        oracle->repeats++;
    }
    page->bits[at >> 6] |= bit;
}

void oracle_add(struct oracle *oracle, const int64_t *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hear_one(oracle, numbers[i]);
    oracle->count += (int64_t)n;
}
