/* SPDX-License-Identifier: Apache-2.0 */
/* Finding and making rows; see rows.h. */
#include "daemon/alarm/rows.h"

#include <string.h>

/* What is lost with a row, from the least to the most. */
enum loss {
    LOSS_NONE,   /* a single event that was sent */
    LOSS_END,    /* an end that could not be delivered */
    LOSS_UNSENT, /* a single event or a counter that nobody heard of */
    LOSS_KNOWN,  /* a counter whose end the receiver waits for */
    LOSS_NEVER,  /* is not displaced */
};

struct bound {
    size_t rows;   /* at most */
    enum loss may; /* displaces rows whose loss is this at most */
};

static const struct bound bounds[ALARM_SUBJECT_KINDS] = {
    [ALARM_OF_ONCE] = {ALARM_ONCE_ROWS, LOSS_NONE},
    [ALARM_OF_COUNTER] = {ALARM_COUNTER_ROWS, LOSS_END},
    [ALARM_OF_SYSTEM] = {ALARM_ROWS, LOSS_KNOWN},
};

struct alarm_row *alarm_rows_find(struct alarm_row rows[ALARM_ROWS],
                                  const char *subject)
{
    for (size_t i = 0; i < ALARM_ROWS; i++)
        if (rows[i].is_used && strcmp(rows[i].subject, subject) == 0)
            return &rows[i];
    return NULL;
}

static struct alarm_row *rows_free(struct alarm_row rows[ALARM_ROWS])
{
    for (size_t i = 0; i < ALARM_ROWS; i++)
        if (!rows[i].is_used)
            return &rows[i];
    return NULL;
}

static size_t rows_count(const struct alarm_row rows[ALARM_ROWS],
                         enum alarm_subject_kind kind)
{
    size_t count = 0;

    for (size_t i = 0; i < ALARM_ROWS; i++)
        count += rows[i].is_used && rows[i].kind == kind;
    return count;
}

static enum loss row_loss(const struct alarm_row *row)
{
    if (row->is_sending)
        return LOSS_NEVER;
    if (row->kind == ALARM_OF_ONCE && !row->is_waiting)
        return LOSS_NONE;
    if (!row->is_firing && row->failures > 0)
        return LOSS_END;
    if (row->kind == ALARM_OF_SYSTEM)
        return LOSS_NEVER;
    return row->was_sent ? LOSS_KNOWN : LOSS_UNSENT;
}

/* Warnings before errors, then the oldest. */
static bool row_goes_before(const struct alarm_row *row,
                            const struct alarm_row *other)
{
    const enum loss loss = row_loss(row);
    const enum loss of_other = row_loss(other);

    if (loss != of_other)
        return loss < of_other;
    if (row->level != other->level)
        return row->level > other->level;
    return row->time_ms < other->time_ms;
}

/* The row that is displaced; of this kind only if `own`. NULL: there is none.
 */
static struct alarm_row *rows_displaced(struct alarm_row rows[ALARM_ROWS],
                                        enum alarm_subject_kind kind, bool own)
{
    struct alarm_row *first = NULL;

    for (size_t i = 0; i < ALARM_ROWS; i++) {
        struct alarm_row *row = &rows[i];

        if (!row->is_used || (own && row->kind != kind) ||
            row_loss(row) > bounds[kind].may)
            continue;
        if (first == NULL || row_goes_before(row, first))
            first = row;
    }
    return first;
}

struct alarm_row *alarm_rows_make(struct alarm_row rows[ALARM_ROWS],
                                  enum alarm_subject_kind kind)
{
    const bool is_bounded = rows_count(rows, kind) >= bounds[kind].rows;
    struct alarm_row *row = is_bounded ? NULL : rows_free(rows);

    return row != NULL ? row : rows_displaced(rows, kind, is_bounded);
}
