/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raising a counter of mysql-autoinc: its row in seqb_counters and, in the
 * same transaction, the table's last id, which is lifted by a row of that id:
 * unlike ALTER TABLE that neither commits by itself nor needs more rights.
 */
#include "backends/mysql/autoinc/raise.h"

#include <inttypes.h>

#include "backends/mysql/rows.h"
#include "platform/error.h"

struct standing {
    struct mysql_counter base; /* where counters begin that have no row */
    struct mysql_counter row;
    int64_t last;    /* the table's last id, 0 if there is none */
    int64_t base_ms; /* to be kept beside the base; 0: nothing */
};

/* Locks the rows, and only then looks at the table. */
static enum seqb_status standing_read(struct mysql_link *link,
                                      const char *origin,
                                      const struct mysql_table *table,
                                      struct standing *out,
                                      struct seqb_error *err)
{
    enum seqb_status status;

    out->row.name = table->counter;
    status = mysql_rows_lock(link, origin, &out->base, &out->row, 1, err);
    if (status != SEQB_OK)
        return status;
    mysql_link_add(link, "SELECT COALESCE(MAX(id), 0) FROM `%s`", table->name);
    status = mysql_link_run(link, SEQB_UNREACHABLE, err);
    if (status != SEQB_OK)
        return status;
    if (!mysql_link_row(link) || !mysql_link_int64(link, 0, &out->last))
        return mysql_link_distrust(link, "a table's last id", err);
    return SEQB_OK;
}

/* Adds the gap; false if that is no number. */
static bool value_lift(int64_t *value, int64_t gap)
{
    if (*value > INT64_MAX - gap)
        return false;
    *value += gap;
    return true;
}

/* What the base and the row become. A counter that is not bound lies by the
 * gap above its row and above its table, of which one may be older. */
static bool standing_lift(struct standing *now, const struct seqb_raise *raise)
{
    int64_t last = now->last;
    bool fits = true;

    if (now->base.state != MYSQL_COUNTER_BOUND) {
        fits = value_lift(&now->base.value, raise->base_gap);
        now->base_ms = raise->base_ms;
    }
    if (now->base.is_new && now->base.value < raise->base_floor)
        now->base.value = raise->base_floor;
    if (now->row.state == MYSQL_COUNTER_ABSENT)
        now->row.value = now->base.value;
    if (now->row.state == MYSQL_COUNTER_FOREIGN)
        fits = value_lift(&now->row.value, raise->gap) && fits;
    if (now->row.state != MYSQL_COUNTER_BOUND && last > 0)
        fits = value_lift(&last, raise->gap) && fits;
    if (now->row.value < last)
        now->row.value = last;
    if (now->row.value < raise->floor)
        now->row.value = raise->floor;
    return fits && now->row.value <= raise->limit;
}

static enum seqb_status standing_raise(struct standing *now,
                                       const struct mysql_link *link,
                                       const struct seqb_raise *raise,
                                       struct seqb_error *err)
{
    if (now->base.state == MYSQL_COUNTER_DAMAGED ||
        now->row.state == MYSQL_COUNTER_DAMAGED)
        return error_set(err, SEQB_CORRUPT,
                         "%s: counter %s or the base is damaged", link->where,
                         raise->counter);
    if (standing_lift(now, raise))
        return SEQB_OK;
    return error_set(err, SEQB_EXHAUSTED,
                     "%s: counter %s: no value is left below %" PRId64,
                     link->where, raise->counter, raise->limit);
}

static enum seqb_status standing_write(struct mysql_link *link,
                                       const char *origin,
                                       const struct mysql_table *table,
                                       const struct standing *now,
                                       struct seqb_error *err)
{
    size_t changes = 1;

    /* Where the row is there already this still moves the next id above it,
     * which may lie below after an UPDATE of ids. */
    if (now->row.value > 0) {
        mysql_link_add(link, "INSERT IGNORE INTO `%s` (id) SELECT %" PRId64 ";",
                       table->name, now->row.value);
        changes++;
    }
    changes += mysql_rows_put_base(link, origin, &now->base, now->base_ms);
    mysql_rows_put(link, origin, &now->row);
    return mysql_rows_commit(link, changes, err);
}

enum seqb_status mysql_raise(struct mysql_link *link, const char *origin,
                             const struct mysql_table *table,
                             const struct seqb_raise *raise, int64_t *out,
                             struct seqb_error *err)
{
    struct standing now = {.base_ms = 0};
    enum seqb_status status = standing_read(link, origin, table, &now, err);

    if (status == SEQB_OK)
        status = standing_raise(&now, link, raise, err);
    if (status == SEQB_OK)
        status = standing_write(link, origin, table, &now, err);
    if (status == SEQB_OK)
        *out = now.row.value;
    else if (link->handle != NULL && mysql_rows_abandon(link, NULL) != SEQB_OK)
        mysql_link_close(link);
    return status;
}
