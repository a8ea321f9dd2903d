/* SPDX-License-Identifier: Apache-2.0 */
/* Which maps of a list are shown, and in which order. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/client.h"
#include "ctl/ctl.h"
#include "ctl/table/table.h"

#define ROW_SIZE sizeof(redisReply *)

struct row_order {
    const char *name;
    const char *field;
    bool is_text;
    bool is_falling; /* the greatest value comes first */
};

/* The rows that need attention come first. A negative value means never. */
static const struct row_order orders[] = {
    {"rate", "rate", false, true},
    {"taken", "taken", false, true},
    {"waits", "waits", false, true},
    {"stock", "stock", false, false},
    {"runway", "runway_ms", false, false},
    {"runs-out", "runs_out_ms", false, false},
    {"key", "key", true, false},
    {"pool", "pool", true, false},
};

#define ORDERS (sizeof orders / sizeof orders[0])

const struct row_order *row_order_find(const char *name)
{
    for (size_t i = 0; i < ORDERS; i++) {
        if (strcmp(orders[i].name, name) == 0)
            return &orders[i];
    }
    return NULL;
}

const char *row_order_names(void)
{
    return "rate, taken, waits, stock, runway, runs-out, key or pool";
}

bool rows_init(struct rows *rows, const redisReply *list)
{
    const size_t count = list != NULL ? list->elements : 0;

    rows->count = 0;
    rows->row = calloc(count + 1, ROW_SIZE);
    if (rows->row == NULL) {
        ctl_complain("out of memory");
        return false;
    }
    if (count > 0)
        memcpy(rows->row, list->element, count * ROW_SIZE);
    rows->count = count;
    return true;
}

void rows_fini(struct rows *rows)
{
    free(rows->row);
    rows->row = NULL;
    rows->count = 0;
}

/* --- keeping --- */

static bool name_matches(const char *glob, const char *name)
{
    return strcmp(glob, name) == 0 || fnmatch(glob, name, 0) == 0;
}

static bool row_matches(const redisReply *row, const char *glob,
                        const char *field)
{
    return field != NULL && name_matches(glob, reply_text(row, field));
}

void rows_keep(struct rows *rows, const char *glob, const char *field,
               const char *other)
{
    size_t kept = 0;

    for (size_t i = 0; i < rows->count; i++) {
        if (row_matches(rows->row[i], glob, field) ||
            row_matches(rows->row[i], glob, other))
            rows->row[kept++] = rows->row[i];
    }
    rows->count = kept;
}

static bool has_pool(const struct rows *rows, const char *pool)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (strcmp(reply_text(rows->row[i], "pool"), pool) == 0)
            return true;
    }
    return false;
}

void rows_keep_pools(struct rows *rows, const char *glob,
                     const struct rows *others)
{
    size_t kept = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const char *pool = reply_text(rows->row[i], "pool");

        if (name_matches(glob, pool) || has_pool(others, pool))
            rows->row[kept++] = rows->row[i];
    }
    rows->count = kept;
}

void rows_drop_up(struct rows *rows)
{
    size_t kept = 0;

    for (size_t i = 0; i < rows->count; i++) {
        const redisReply *row = rows->row[i];

        if (strcmp(reply_text(row, "state"), "up") != 0 ||
            reply_text(row, "reason")[0] != '\0' ||
            reply_text(row, "loss")[0] != '\0')
            rows->row[kept++] = rows->row[i];
    }
    rows->count = kept;
}

/* --- sorting --- */

/* "Never" comes after every time. */
static uint64_t rank_of(const redisReply *row, const struct row_order *order)
{
    const int64_t value = reply_integer(row, order->field);

    return order->is_falling && value < 0 ? 0 : (uint64_t)value;
}

static int by_field(const redisReply *a, const redisReply *b,
                    const struct row_order *order)
{
    const uint64_t x = rank_of(a, order);
    const uint64_t y = rank_of(b, order);
    const int rising = x < y ? -1 : x > y;

    if (order->is_text)
        return strcmp(reply_text(a, order->field), reply_text(b, order->field));
    return order->is_falling ? -rising : rising;
}

static int row_compare(const void *a, const void *b, void *context)
{
    const redisReply *x = *(redisReply *const *)a;
    const redisReply *y = *(redisReply *const *)b;
    const int result = by_field(x, y, context);

    return result != 0 ? result
                       : strcmp(reply_text(x, "key"), reply_text(y, "key"));
}

void rows_sort(struct rows *rows, const struct row_order *order)
{
    qsort_r(rows->row, rows->count, ROW_SIZE, row_compare, (void *)order);
}
