/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of the scripted store. */
#include "unit/sql_script.h"

#include <stdlib.h>
#include <string.h>

#include "platform/error.h"
#include "platform/text.h"

struct script script;
struct sql_backend *sql;

static enum seqb_status answer_give(struct answer *answer, const char *step,
                                    struct seqb_error *err)
{
    if (answer->after-- > 0 || answer->times-- <= 0)
        return SEQB_OK;
    return error_set(err, answer->status, "the %s failed", step);
}

#define TELL(...)                                                              \
    assert_true(text_append(script.told, sizeof script.told, __VA_ARGS__))

static enum seqb_status script_begin(struct seqb_backend *backend,
                                     struct seqb_error *err)
{
    (void)backend;
    return answer_give(&script.begin, "begin", err);
}

static enum seqb_status script_take(struct seqb_backend *backend,
                                    struct seqb_error *err)
{
    (void)backend;
    TELL("take");
    for (size_t i = 0; i < sql->batch.count; i++)
        TELL(" %s", sql->batch.requests[i]->counter);
    TELL(";");
    if (script.is_taken)
        sql->batch.requests[0]->status = SEQB_OK;
    return answer_give(&script.take, "take", err);
}

static enum seqb_status script_renew(struct seqb_backend *backend,
                                     const struct seqb_window *window,
                                     bool *is_done, struct seqb_error *err)
{
    (void)backend;
    TELL("renew %d;", (int)window->window);
    *is_done = script.is_renewed;
    return answer_give(&script.renew, "renewal", err);
}

static void counter_find(struct sql_counter *counter)
{
    if (sql_name_is_cell(counter->name)) {
        if (script.cell != NULL)
            sql_found(sql, counter, script.used, script.cell);
    } else if (script.damaged != NULL &&
               strcmp(counter->name, script.damaged) == 0) {
        sql_found(sql, counter, -1, ROWS);
    } else if (script.value >= 0) {
        sql_found(sql, counter, script.value, ROWS);
        sql_kept_found(counter, SQL_NOTE_VALUES, ROWS, ROWS);
    }
}

static enum seqb_status script_lock(struct seqb_backend *backend,
                                    struct sql_counter *counters, size_t n,
                                    struct seqb_error *err)
{
    struct sql_guards *guards = &sql->guards;
    bool fails = script.failing == NULL;

    (void)backend;
    TELL("lock");
    (void)text_copy(sql->now, sizeof sql->now, script.now);
    if (script.run != NULL)
        (void)text_copy(guards->incarnation, sizeof guards->incarnation,
                        script.run);
    for (size_t i = 0; i < guards->count; i++) {
        TELL(" |%s|", guards->claims[i].name);
        sql_guards_found(guards, i, script.standing);
    }
    sql_found(sql, &counters[0], 0, script.is_rebound ? ROWS "#1" : ROWS);
    for (size_t i = 1; i < n; i++) {
        TELL(" %s", counters[i].name);
        counter_find(&counters[i]);
        fails = fails || strcmp(counters[i].name, script.failing) == 0;
    }
    TELL(";");
    return fails ? answer_give(&script.lock, "lock", err) : SEQB_OK;
}

static enum seqb_status script_commit(struct seqb_backend *backend,
                                      const struct sql_write *writes, size_t n,
                                      struct seqb_error *err)
{
    char room[SQL_CELL_ORIGIN_SIZE];

    (void)backend;
    TELL("commit");
    for (size_t i = 0; i < n; i++)
        TELL(" %s=%d(%s)", writes[i].name, (int)writes[i].value,
             sql_write_origin(sql, &writes[i], room));
    TELL(";");
    return answer_give(&script.commit, "commit", err);
}

static enum seqb_status script_abandon(struct seqb_backend *backend,
                                       struct seqb_error *err)
{
    (void)backend;
    TELL("abandon;");
    return answer_give(&script.abandon, "rollback", err);
}

static bool script_conflicts(const struct seqb_backend *backend)
{
    (void)backend;
    return script.conflicts-- > 0;
}

static bool script_blames_row(const struct seqb_backend *backend,
                              enum seqb_status status)
{
    (void)backend;
    (void)status;
    return script.is_of_row;
}

const struct sql_dialect whole = {
    .begin = script_begin,
    .take = script_take,
    .renew = script_renew,
    .lock = script_lock,
    .commit = script_commit,
    .abandon = script_abandon,
    .conflicts = script_conflicts,
    .blames_row = script_blames_row,
};

const struct sql_dialect least = {
    .lock = script_lock,
    .commit = script_commit,
    .abandon = script_abandon,
};

void begin_with(const struct sql_dialect *dialect)
{
    script = (struct script){.now = NOW, .run = "run", .standing = "run"};
    sql->dialect = dialect;
    sql->where = WHERE;
    sql->guards.count = 0;
    (void)text_copy(sql->base.origin, sizeof sql->base.origin, ROWS);
    (void)text_copy(sql->base.incarnation, sizeof sql->base.incarnation, "run");
}

int sql_make(void **state)
{
    (void)state;
    sql = calloc(1, sizeof *sql);
    return sql == NULL;
}

int sql_drop(void **state)
{
    (void)state;
    free(sql);
    return 0;
}

void must_tell(const char *told)
{
    assert_string_equal(script.told, told);
    script.told[0] = '\0';
}
