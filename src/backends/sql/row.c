/* SPDX-License-Identifier: Apache-2.0 */
/* The meaning of a counter's rows. */
#include "backends/sql/row.h"

#include <string.h>

#include "backends/sql/epoch.h"
#include "backends/sql/mark.h"
#include "platform/error.h"
#include "platform/text.h"

/* Names that are too long are truncated and may share a note, which is valid
 * for both. */
void sql_counter_init(struct sql_counter *counter, const char *name)
{
    *counter = (struct sql_counter){.name = name};
    if (sql_mark_counts(name))
        (void)sql_mark_name(name, counter->kept);
    else
        (void)text_format(counter->kept, sizeof counter->kept,
                          SQL_NOTE_PREFIX "%s", name);
}

/* Whether a base is bound to `now` and must be raised. */
static bool is_due(const char *origin, const char *now)
{
    char due[SQL_EPOCH_DUE_SIZE];

    sql_epoch_due(now, due);
    return strcmp(origin, due) == 0;
}

static void row_found(struct sql_row *row, int64_t value, const char *origin,
                      const char *now)
{
    row->value = value;
    row->is_unbound = origin != NULL && origin[0] == '\0';
    if (value < 0 || origin == NULL)
        row->state = SQL_ROW_DAMAGED;
    else if (strcmp(origin, now) == 0)
        row->state = SQL_ROW_BOUND;
    else
        row->state = SQL_ROW_FOREIGN;
    row->is_rebound = row->state == SQL_ROW_FOREIGN &&
                      sql_epoch_shares_store(origin, now) &&
                      !is_due(origin, now);
}

void sql_row_found(struct sql_counter *counter, int64_t value,
                   const char *origin, const char *now)
{
    row_found(&counter->row, value, origin, now);
}

/* Whether both are stamps of one counter. In a SQLite file that an earlier
 * version wrote, marks have the file's origin in that column instead. */
static bool names_share_key(const char *name, const char *other)
{
    const char *stamp = strrchr(name, '@');

    return stamp != NULL &&
           strncmp(name, other, (size_t)(stamp - name) + 1) == 0;
}

void sql_mark_found(struct sql_counter *counter, int64_t value,
                    const char *keep)
{
    counter->mark_ms = value < 0 || keep == NULL ? SQL_MARK_DAMAGED : value;
    counter->is_purged =
        keep == NULL || (names_share_key(counter->name, keep) &&
                         strcmp(keep, counter->name) > 0);
}

void sql_kept_found(struct sql_counter *counter, int64_t value,
                    const char *origin, const char *now)
{
    if (sql_mark_counts(counter->name))
        sql_mark_found(counter, value, origin);
    else
        row_found(&counter->note, value, origin, now);
}

/* --- notes --- */

bool sql_row_is_noted(const char *name, int64_t value, int64_t want)
{
    return sql_mark_counts(name) ||
           (value >= 1 &&
            (value - 1) % SQL_NOTE_VALUES < SQL_NOTE_VALUES - want);
}

/* The new note of a counter that is at `value`; 0: unchanged. */
static int64_t note_due(const struct sql_counter *counter, int64_t value)
{
    const struct sql_row *note = &counter->note;

    if (sql_mark_counts(counter->name) ||
        (note->state == SQL_ROW_BOUND && note->value >= value))
        return 0;
    if (value > INT64_MAX - SQL_NOTE_VALUES)
        return INT64_MAX;
    return (value + SQL_NOTE_VALUES - 1) / SQL_NOTE_VALUES * SQL_NOTE_VALUES;
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

    if (status == SEQB_EXHAUSTED && row->value > request->limit)
        return grant_refuse(status, "no value is left, and its row is above "
                                    "its limit: was the pool migrated?");
    if (status != SEQB_OK)
        return grant_refuse(status, seqb_status_text(status));
    if (count > request->limit - row->value)
        count = request->limit - row->value;
    return (struct sql_grant){.status = SEQB_OK,
                              .block = {row->value + 1, count},
                              .value = row->value + count};
}

/* Whether the mark of the counter's periods, and the base's, allow that it is
 * taken from. */
static struct sql_grant marks_check(const struct sql_counter *base,
                                    const struct sql_counter *counter,
                                    const struct seqb_request *request)
{
    const bool begins = counter->row.state == SQL_ROW_ABSENT;

    if (counter->mark_ms == SQL_MARK_DAMAGED ||
        (begins && request->begins_ms > 0 && base->mark_ms == SQL_MARK_DAMAGED))
        return grant_refuse(SEQB_CORRUPT, "what is kept of its periods is "
                                          "damaged");
    if (counter->mark_ms > request->begins_ms)
        return grant_refuse(SEQB_EXHAUSTED,
                            "its period is over and was purged: is this "
                            "machine's clock behind?");
    return (struct sql_grant){.status = SEQB_OK};
}

/* Checks whether the period is over before checking whether the base is bound:
 * a counter that is fenced would be raised, and thereby created. With a guard,
 * also if there is a row: a lessor that went back may have the row of a period
 * that the others closed and deleted, and learns only that it is closed. */
static struct sql_grant counter_take(const struct sql_counter *base,
                                     const struct sql_counter *counter,
                                     const struct seqb_request *request)
{
    const bool begins = counter->row.state == SQL_ROW_ABSENT;
    struct sql_row begin = base->row;

    if (begins || request->guard != NULL) {
        const struct sql_grant refused = marks_check(base, counter, request);

        if (refused.status != SEQB_OK)
            return refused;
    }
    if (!begins)
        return sql_row_take(&counter->row, request);
    if (request->begins_ms > base->mark_ms)
        begin.value = 0;
    if (counter->note.state != SQL_ROW_ABSENT &&
        counter->note.state != SQL_ROW_BOUND)
        return grant_refuse(row_status(&counter->note, INT64_MAX),
                            "its row was deleted, and its note is another "
                            "store's");
    if (counter->note.value > begin.value)
        begin.value = counter->note.value;
    else if (begin.state == SQL_ROW_BOUND && begin.value > 0)
        return grant_refuse(SEQB_FENCED, "it begins after a base that was "
                                         "raised");
    return sql_row_take(&begin, request);
}

struct sql_grant sql_counter_take(const struct sql_counter *base,
                                  const struct sql_counter *counter,
                                  const struct seqb_request *request)
{
    struct sql_grant grant = counter_take(base, counter, request);

    if (grant.status == SEQB_OK)
        grant.note = note_due(counter, grant.value);
    return grant;
}

/* --- raises --- */

/* Rebinds a row in a raise: a bound row is unchanged, any other becomes `gap`
 * higher and bound. False if the value overflows. */
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

/* The base is rebound together with the first counter, so that counters that
 * are missing in an older copy of the store begin above what they had
 * reached. */
static bool base_lift(struct sql_row *base, const struct seqb_raise *raise)
{
    const bool is_new = base->state == SQL_ROW_ABSENT || base->is_unbound;
    const bool fits = row_rebind(base, raise->base_gap);

    if (is_new && base->value < raise->base_floor)
        base->value = raise->base_floor;
    return fits;
}

/* A missing counter begins at the base, or above its note if that is higher. */
static bool row_begin(struct sql_row *row, const struct sql_row *base,
                      struct sql_row note, const struct seqb_raise *raise)
{
    *row = *base;
    if (note.state == SQL_ROW_ABSENT)
        return true;
    if (!row_rebind(&note, raise->gap))
        return false;
    if (note.value > row->value)
        row->value = note.value;
    return true;
}

/* Whether the raise is spread: brokers that do not know each other, each with
 * the same copy of the store, should then raise it to different values. */
static bool row_is_spread(const struct sql_row *row, const struct sql_row *base)
{
    return row->state == SQL_ROW_FOREIGN ||
           (row->state == SQL_ROW_ABSENT && base->value > 0);
}

static bool row_lift(struct sql_row *row, const struct sql_row *base,
                     const struct sql_row *note, const struct seqb_raise *raise,
                     int64_t *before)
{
    const bool is_spread = row_is_spread(row, base);

    if (row->state == SQL_ROW_ABSENT && !row_begin(row, base, *note, raise))
        return false;
    if (!row_rebind(row, raise->gap))
        return false;
    *before = row->value;
    if (row->value < raise->floor)
        row->value = raise->floor;
    if (is_spread)
        row->value += seqb_raise_spread(raise, row->value);
    return row->value <= raise->limit;
}

static void lift_write(struct sql_lift *lift, const char *name, int64_t value)
{
    lift->writes[lift->count++] =
        (struct sql_write){.name = name, .value = value};
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
        counter->note.state == SQL_ROW_DAMAGED ||
        (!is_base_bound && base->mark_ms == SQL_MARK_DAMAGED))
        return lift_refuse(SEQB_CORRUPT, "it or the base is damaged");
    if (row.state == SQL_ROW_ABSENT && counter->is_purged)
        return lift_refuse(SEQB_EXHAUSTED, "its period is over and was purged");
    if (!base_lift(&begin, raise) ||
        !row_lift(&row, &begin, &counter->note, raise, &lift.before))
        return lift_refuse(SEQB_EXHAUSTED, "no value is left below its limit");
    if (!is_base_bound)
        lift_write(&lift, SQL_BASE, begin.value);
    if (!is_base_bound && raise->base_ms > base->mark_ms)
        lift_write(&lift, SQL_MARK_BASE, raise->base_ms);
    lift_write(&lift, raise->counter, row.value);
    if (note_due(counter, row.value) > 0)
        lift_write(&lift, counter->kept, note_due(counter, row.value));
    lift.value = row.value;
    return lift;
}
