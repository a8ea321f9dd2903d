/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows of a counter mean. */
#include "backends/sql/row.h"

#include <string.h>

#include "backends/sql/mark.h"
#include "platform/error.h"

void sql_row_found(struct sql_counter *counter, int64_t value,
                   const char *origin, const char *now)
{
    struct sql_row *row = &counter->row;

    row->value = value;
    row->is_unbound = origin != NULL && origin[0] == '\0';
    if (value < 0 || origin == NULL)
        row->state = SQL_ROW_DAMAGED;
    else if (strcmp(origin, now) == 0)
        row->state = SQL_ROW_BOUND;
    else
        row->state = SQL_ROW_FOREIGN;
}

/* Whether both are stamps of one counter. Marks of a SQLite file that an
 * earlier version wrote have the file's origin there. */
static bool names_share_key(const char *name, const char *other)
{
    const char *stamp = strrchr(name, '@');

    return stamp != NULL &&
           strncmp(name, other, (size_t)(stamp - name) + 1) == 0;
}

void sql_mark_found(struct sql_counter *counter, int64_t value,
                    const char *keep)
{
    counter->mark_ms = value < 0 ? SQL_MARK_DAMAGED : value;
    counter->is_purged =
        keep == NULL || (names_share_key(counter->name, keep) &&
                         strcmp(keep, counter->name) > 0);
}

/* --- reservations --- */

static struct sql_grant grant_refuse(enum seqb_status status, const char *why)
{
    return (struct sql_grant){.status = status, .why = why};
}

static enum seqb_status row_status(const struct sql_row *row, int64_t limit)
{
    if (row->state == SQL_ROW_DAMAGED)
        return SEQB_CORRUPT;
    if (row->state != SQL_ROW_BOUND)
        return SEQB_FENCED;
    return row->value < limit ? SEQB_OK : SEQB_EXHAUSTED;
}

struct sql_grant sql_row_take(const struct sql_row *row,
                              const struct seqb_request *request)
{
    const enum seqb_status status = row_status(row, request->limit);
    int64_t count = request->want;

    if (status != SEQB_OK)
        return grant_refuse(status, seqb_status_text(status));
    if (count > request->limit - row->value)
        count = request->limit - row->value;
    return (struct sql_grant){.status = SEQB_OK,
                              .block = {row->value + 1, count},
                              .value = row->value + count};
}

/* Whether the period is over comes before whether the base is bound: a counter
 * that is fenced would be raised, and so be made. */
struct sql_grant sql_counter_take(const struct sql_counter *base,
                                  const struct sql_counter *counter,
                                  const struct seqb_request *request)
{
    struct sql_row begin = base->row;

    if (counter->row.state != SQL_ROW_ABSENT)
        return sql_row_take(&counter->row, request);
    if (counter->mark_ms == SQL_MARK_DAMAGED ||
        (request->begins_ms > 0 && base->mark_ms == SQL_MARK_DAMAGED))
        return grant_refuse(SEQB_CORRUPT, "what is kept of its periods is "
                                          "damaged");
    if (counter->mark_ms > request->begins_ms)
        return grant_refuse(SEQB_EXHAUSTED,
                            "its period is over and was purged: is this "
                            "machine's clock behind?");
    if (request->begins_ms > base->mark_ms)
        begin.value = 0;
    return sql_row_take(&begin, request);
}

/* --- raises --- */

/* What a row becomes by a raise: as it is if it is bound, else `gap` higher
 * and bound. False if that is no number. */
static bool row_rebind(struct sql_row *row, int64_t gap)
{
    if (row->state == SQL_ROW_BOUND)
        return true;
    row->state = SQL_ROW_BOUND;
    if (row->value > INT64_MAX - gap)
        return false;
    row->value += gap;
    return true;
}

/* The base is rebound with the first counter, so that those which are not in
 * an older copy of the store begin above what they had reached. */
static bool base_lift(struct sql_row *base, const struct seqb_raise *raise)
{
    const bool is_new = base->state == SQL_ROW_ABSENT || base->is_unbound;
    const bool fits = row_rebind(base, raise->base_gap);

    if (is_new && base->value < raise->base_floor)
        base->value = raise->base_floor;
    return fits;
}

static bool row_lift(struct sql_row *row, const struct sql_row *base,
                     const struct seqb_raise *raise)
{
    if (row->state == SQL_ROW_ABSENT)
        *row = *base;
    if (!row_rebind(row, raise->gap))
        return false;
    if (row->value < raise->floor)
        row->value = raise->floor;
    return row->value <= raise->limit;
}

static void lift_write(struct sql_lift *lift, const char *name, int64_t value)
{
    lift->writes[lift->count++] = (struct sql_write){name, value};
}

static struct sql_lift lift_refuse(enum seqb_status status, const char *why)
{
    return (struct sql_lift){.status = status, .why = why};
}

struct sql_lift sql_counter_raise(const struct sql_counter *base,
                                  const struct sql_counter *counter,
                                  const struct seqb_raise *raise)
{
    const bool is_base_bound = base->row.state == SQL_ROW_BOUND;
    struct sql_row begin = base->row;
    struct sql_row row = counter->row;
    struct sql_lift lift = {.status = SEQB_OK};

    if (begin.state == SQL_ROW_DAMAGED || row.state == SQL_ROW_DAMAGED ||
        (!is_base_bound && base->mark_ms == SQL_MARK_DAMAGED))
        return lift_refuse(SEQB_CORRUPT, "it or the base is damaged");
    if (row.state == SQL_ROW_ABSENT && counter->is_purged)
        return lift_refuse(SEQB_EXHAUSTED, "its period is over and was purged");
    if (!base_lift(&begin, raise) || !row_lift(&row, &begin, raise))
        return lift_refuse(SEQB_EXHAUSTED, "no value is left below its limit");
    if (!is_base_bound)
        lift_write(&lift, SQL_BASE, begin.value);
    if (!is_base_bound && raise->base_ms > base->mark_ms)
        lift_write(&lift, SQL_MARK_BASE, raise->base_ms);
    lift_write(&lift, raise->counter, row.value);
    lift.value = row.value;
    return lift;
}
