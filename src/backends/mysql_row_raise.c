/* SPDX-License-Identifier: Apache-2.0 */
/* What a raise makes of the row of a counter of mysql-row, and of the base. */
#include "backends/mysql_row_raise.h"

#include <inttypes.h>

#include "backends/mysql_rows.h"
#include "platform/error.h"

/* Adds the gap; false if that is no number. */
static bool value_lift(int64_t *value, int64_t gap)
{
    if (*value > INT64_MAX - gap)
        return false;
    *value += gap;
    return true;
}

/* What a row becomes by a raise: as it is if it is bound, else `gap` higher
 * and bound. False if that is no number. */
static bool row_rebind(struct mysql_counter *row, int64_t gap)
{
    if (row->state == MYSQL_COUNTER_BOUND)
        return true;
    row->state = MYSQL_COUNTER_BOUND;
    return value_lift(&row->value, gap);
}

/* The base is rebound with the first counter, so that those which are not in
 * an older copy of the table begin above what they had reached. */
static bool raise_lift(const struct seqb_raise *raise,
                       struct mysql_counter *base, struct mysql_counter *row)
{
    if (!row_rebind(base, raise->base_gap))
        return false;
    if (base->is_new && base->value < raise->base_floor)
        base->value = raise->base_floor;
    if (row->state == MYSQL_COUNTER_ABSENT) {
        row->state = MYSQL_COUNTER_BOUND;
        row->value = base->value;
    }
    if (!row_rebind(row, raise->gap))
        return false;
    if (row->value < raise->floor)
        row->value = raise->floor;
    return row->value <= raise->limit;
}

static enum seqb_status raise_judge(const struct mysql_link *link,
                                    const struct seqb_raise *raise,
                                    struct mysql_counter *base,
                                    struct mysql_counter *row,
                                    struct seqb_error *err)
{
    if (base->state == MYSQL_COUNTER_DAMAGED ||
        row->state == MYSQL_COUNTER_DAMAGED)
        return error_set(err, SEQB_CORRUPT,
                         "%s: counter %s or the base is damaged", link->where,
                         raise->counter);
    if (row->state == MYSQL_COUNTER_ABSENT && row->is_purged)
        return error_set(err, SEQB_EXHAUSTED,
                         "%s: counter %s: its period is over and was purged",
                         link->where, raise->counter);
    if (!raise_lift(raise, base, row))
        return error_set(err, SEQB_EXHAUSTED,
                         "%s: counter %s: no value is left below %" PRId64,
                         link->where, raise->counter, raise->limit);
    return SEQB_OK;
}

enum seqb_status mysql_row_raise_locked(struct mysql_link *link,
                                        const char *origin,
                                        const struct seqb_raise *raise,
                                        int64_t *out, struct seqb_error *err)
{
    struct mysql_counter base;
    struct mysql_counter row = {.name = raise->counter};
    int64_t base_ms;
    size_t changes;
    enum seqb_status status =
        mysql_rows_lock(link, origin, &base, &row, 1, err);

    if (status != SEQB_OK)
        return status;
    base_ms = base.state == MYSQL_COUNTER_BOUND ? 0 : raise->base_ms;
    status = raise_judge(link, raise, &base, &row, err);
    if (status != SEQB_OK)
        return status;
    changes = mysql_rows_put_base(link, origin, &base, base_ms);
    mysql_rows_put(link, origin, &row);
    status = mysql_rows_commit(link, changes + 1, err);
    if (status == SEQB_OK)
        *out = row.value;
    return status;
}
