/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of a SQL engine that are for one counter: a window that is put into
 * a cell, and a raise. */
#include "backends/sql/sql.h"

#include <assert.h>

#include "platform/error.h"

#define CONFLICT_TRIES 16 /* within the call's deadline */

/* --- cells --- */

static enum seqb_status cell_refuse(const struct sql_backend *sql,
                                    const struct sql_cell_answer *answer,
                                    const char *counter, struct seqb_error *err)
{
    return error_set(err, answer->status, "%s: counter %s: %s", sql->where,
                     counter, answer->why);
}

/* Reads the cell, in a transaction that stays open. */
static enum seqb_status cell_lock(struct sql_backend *sql, const char *name,
                                  struct sql_cell *out, struct seqb_error *err)
{
    struct sql_counter counters[2];
    enum seqb_status status;

    sql->guards.count = 0;
    sql_counter_init(&counters[0], SQL_BASE);
    sql_counter_init(&counters[1], name);
    status = sql->dialect->lock(&sql->base, counters, 2, err);
    if (status == SEQB_OK)
        status = sql_base_check(&counters[0], sql->where, err);
    *out = counters[1].cell;
    return status;
}

/* Writes what was decided, or nothing, and ends the transaction. */
static enum seqb_status cell_end(struct sql_backend *sql, const char *name,
                                 const struct sql_cell_answer *answer,
                                 struct seqb_error *err)
{
    const struct sql_write write = {.name = name,
                                    .value = answer->cell.used,
                                    .window = answer->cell.window,
                                    .size = answer->cell.size};

    return answer->is_write ? sql->dialect->commit(&sql->base, &write, 1, err)
                            : sql->dialect->abandon(&sql->base, err);
}

/* In one round trip, where the caller knows which window stands there. */
static enum seqb_status cell_renew(struct sql_backend *sql,
                                   const struct seqb_window *window,
                                   bool *is_done, struct seqb_error *err)
{
    *is_done = false;
    if (sql->dialect->renew == NULL || window->over <= 0 ||
        window->over >= window->window)
        return SEQB_OK;
    return sql->dialect->renew(&sql->base, window, is_done, err);
}

static enum seqb_status cell_install(struct sql_backend *sql,
                                     const struct seqb_window *window,
                                     int64_t *standing, bool *is_done,
                                     struct seqb_error *err)
{
    struct sql_cell_answer answer;
    struct sql_cell cell;
    enum seqb_status status = cell_lock(sql, window->counter, &cell, err);

    if (status == SEQB_OK && sql->now[0] == '\0')
        status = error_set(err, SEQB_REFUSED,
                           "%s: the store does not keep its incarnation",
                           sql->where);
    if (status == SEQB_OK) {
        answer = sql_cell_install(&cell, window);
        *standing = answer.window;
        if (answer.status != SEQB_OK)
            status = cell_refuse(sql, &answer, window->counter, err);
        else
            status = cell_end(sql, window->counter, &answer, err);
        *is_done = status == SEQB_OK && answer.is_write;
    }
    return status;
}

enum seqb_status sql_install(struct seqb_backend *backend,
                             const struct seqb_window *window,
                             int64_t *standing, struct seqb_error *err)
{
    struct sql_backend *sql = (struct sql_backend *)backend;
    enum seqb_status status;
    bool is_done;

    assert(window->take >= 0 && window->take <= window->size);
    if (!sql_name_is_cell(window->counter))
        return error_set(err, SEQB_INVALID,
                         "%s: counter %s: counts in no windows", sql->where,
                         window->counter);
    status = sql_name_check(sql, window->counter, err);
    if (status == SEQB_OK)
        status = sql_call_begin(sql, err);
    if (status != SEQB_OK)
        return status;
    status = cell_renew(sql, window, &is_done, err);
    if (status == SEQB_OK && !is_done)
        status = cell_install(sql, window, standing, &is_done, err);
    for (int i = 0; i < CONFLICT_TRIES && status != SEQB_OK && sql_retries(sql);
         i++)
        status = cell_install(sql, window, standing, &is_done, err);
    if (status != SEQB_OK)
        (void)sql->dialect->abandon(backend, NULL);
    else if (is_done && window->taken != NULL)
        *window->taken = window->take;
    return status;
}

static enum seqb_status cell_raise(struct sql_backend *sql,
                                   const struct seqb_raise *raise, int64_t *out,
                                   struct seqb_error *err)
{
    struct sql_cell cell;
    enum seqb_status status;

    assert(raise->guard == NULL);
    status = cell_lock(sql, raise->counter, &cell, err);

    if (status == SEQB_OK) {
        const struct sql_cell_answer answer =
            sql_cell_drop(&cell, raise->floor);

        status = cell_end(sql, raise->counter, &answer, err);
        if (status == SEQB_OK)
            *out = answer.window;
    }
    return status;
}

/* --- raises --- */

enum seqb_status sql_lift_refused(const struct sql_lift *lift,
                                  const char *where, const char *counter,
                                  struct seqb_error *err)
{
    return error_set(err, lift->status, "%s: counter %s: %s", where, counter,
                     lift->why);
}

static enum seqb_status raise_locked(struct sql_backend *sql,
                                     const struct seqb_raise *raise,
                                     int64_t *value, struct seqb_error *err)
{
    struct sql_counter counters[2];
    struct sql_lift lift;
    enum seqb_status status;

    sql->guards.count = 0;
    sql_guards_add(&sql->guards, raise->guard);
    sql_counter_init(&counters[0], SQL_BASE);
    sql_counter_init(&counters[1], raise->counter);
    status = sql->dialect->lock(&sql->base, counters, 2, err);
    if (status == SEQB_OK)
        status = sql_locked_check(sql, &counters[0], err);
    if (status == SEQB_OK)
        status = sql_guards_check(&sql->guards, raise->guard, sql->where,
                                  raise->counter, err);
    if (status != SEQB_OK)
        return status;
    lift = sql_counter_raise(&counters[0], &counters[1], raise);
    if (lift.status != SEQB_OK)
        return sql_lift_refused(&lift, sql->where, raise->counter, err);
    *value = lift.value;
    if (raise->before != NULL)
        *raise->before = lift.before;
    return sql->dialect->commit(&sql->base, lift.writes, lift.count, err);
}

static enum seqb_status raise_once(struct sql_backend *sql,
                                   const struct seqb_raise *raise, int64_t *out,
                                   struct seqb_error *err)
{
    return sql_name_is_cell(raise->counter)
               ? cell_raise(sql, raise, out, err)
               : raise_locked(sql, raise, out, err);
}

enum seqb_status sql_raise(struct seqb_backend *backend,
                           const struct seqb_raise *raise, int64_t *out,
                           struct seqb_error *err)
{
    struct sql_backend *sql = (struct sql_backend *)backend;
    enum seqb_status status;
    int64_t value = 0;

    if (raise->guard != NULL)
        raise->guard->has_failed = false;
    if (raise->guard != NULL && sql->base.incarnation[0] == '\0')
        return sql_guard_refuse(sql->where, raise->counter, sql->unknown, err);
    status = sql_name_check(sql, raise->counter, err);
    if (status == SEQB_OK)
        status = sql_call_begin(sql, err);
    if (status != SEQB_OK)
        return status;
    status = raise_once(sql, raise, &value, err);
    for (int i = 0; i < CONFLICT_TRIES && status != SEQB_OK && sql_retries(sql);
         i++)
        status = raise_once(sql, raise, &value, err);
    if (status == SEQB_OK)
        *out = value;
    else
        (void)sql->dialect->abandon(backend, NULL);
    return status;
}
