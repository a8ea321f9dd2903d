/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table that forgets: a row that finds no free place takes another's. */
#include "backends/etcd/known.h"

#include <stdlib.h>
#include <string.h>

#include "platform/hash.h"
#include "platform/text.h"

#define ROWS_MAX 1024
#define PROBES   8

/* The row of that name, or else a free one, or else the first one that it might
 * take. */
static struct etcd_known_row *row_at(const struct etcd_known *known,
                                     const char *name)
{
    const uint64_t hash = hash_text(name);
    struct etcd_known_row *place = NULL;

    for (uint64_t i = 0; i < PROBES; i++) {
        struct etcd_known_row *row = &known->rows[(hash + i) % ROWS_MAX];

        if (row->hash == hash && strcmp(row->name, name) == 0)
            return row;
        if (place == NULL && row->name[0] == '\0')
            place = row;
    }
    return place != NULL ? place : &known->rows[hash % ROWS_MAX];
}

static struct etcd_known_row *row_find(const struct etcd_known *known,
                                       const char *name)
{
    struct etcd_known_row *row;

    if (known->rows == NULL)
        return NULL;
    row = row_at(known, name);
    return strcmp(row->name, name) == 0 ? row : NULL;
}

const struct etcd_known_row *etcd_known_find(const struct etcd_known *known,
                                             const char *name)
{
    return row_find(known, name);
}

bool etcd_known_grants(const struct etcd_known *known,
                       const struct seqb_request *request)
{
    const struct etcd_known_row *row = row_find(known, request->counter);

    if (row == NULL || !row->is_alone || request->guard != NULL)
        return false;
    if (sql_name_is_cell(row->name))
        return row->window > 0 && row->size == request->limit &&
               row->value < row->size;
    return row->value < request->limit &&
           sql_row_is_noted(row->name, row->value, request->want);
}

void etcd_known_read(struct etcd_known *known,
                     const struct sql_counter *counter)
{
    struct etcd_known_row *row = row_find(known, counter->name);

    if (row == NULL)
        return;
    if (sql_name_is_cell(counter->name))
        row->is_alone = counter->cell.state == SQL_CELL_BOUND &&
                        counter->cell.window == row->window &&
                        counter->cell.size == row->size &&
                        counter->cell.used == row->value;
    else
        row->is_alone = counter->row.state == SQL_ROW_BOUND &&
                        counter->row.value == row->value;
}

void etcd_known_write(struct etcd_known *known, const struct sql_write *write)
{
    const bool is_counter = write->name[0] != '\0' && write->name[0] != '@';
    struct etcd_known_row *row;

    if (known->rows == NULL)
        known->rows = calloc(ROWS_MAX, sizeof *known->rows);
    if (known->rows == NULL || !is_counter)
        return;
    row = row_at(known, write->name);
    if (strcmp(row->name, write->name) != 0) {
        row->is_alone = false;
        (void)text_copy(row->name, sizeof row->name, write->name);
        row->hash = hash_text(row->name);
    }
    row->value = write->value;
    row->window = write->window;
    row->size = write->size;
}

void etcd_known_doubt(struct etcd_known *known, const char *name)
{
    struct etcd_known_row *row = row_find(known, name);

    if (row != NULL)
        row->is_alone = false;
}

void etcd_known_fini(struct etcd_known *known)
{
    free(known->rows);
    *known = (struct etcd_known){.rows = NULL};
}
