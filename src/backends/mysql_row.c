/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mysql-row engine: direct counters, each a row that carries the origin of
 * the server in which its value holds. One statement serves a counter as a
 * rule; what it does not serve is found out with the rows locked. Always in
 * the order of their names, so that brokers never wait in a circle.
 *
 * Tested on MariaDB; of SQL only what MySQL has too is used.
 */
#include "backends/backends.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backends/mysql_claim.h"
#include "backends/mysql_link.h"
#include "backends/mysql_purge.h"
#include "backends/mysql_row_raise.h"
#include "backends/mysql_rows.h"
#include "backends/mysql_server.h"
#include "platform/error.h"
#include "platform/text.h"

#define REQUESTS_MAX 1024
#define ORIGIN_SQL   MYSQL_ORIGIN_SQL("'seqb_counters'")

/* When a request's turn is: in the order of the counters' names. */
struct turn {
    const char *counter;
    struct seqb_request *request;
};

struct mysql_row {
    struct seqb_backend base;
    struct mysql_link link;
    /* Of the reserve call under way: those that have no grant yet, and their
     * rows once they are locked. */
    struct turn turns[REQUESTS_MAX];
    struct mysql_counter rows[REQUESTS_MAX];
};

/* --- reserve: the one statement a counter --- */

static int turn_order(const void *a, const void *b)
{
    return strcmp(((const struct turn *)a)->counter,
                  ((const struct turn *)b)->counter);
}

/* `now` is the SQL of the store's origin. All is checked where the value is
 * added to; no row is changed if any of it does not hold. */
static void grant_write(struct mysql_row *mysql,
                        const struct seqb_request *request, const char *now)
{
    struct mysql_link *link = &mysql->link;

    mysql_link_add(link,
                   "UPDATE seqb_counters "
                   "SET value = LAST_INSERT_ID(value + %" PRId64 ") "
                   "WHERE value BETWEEN 0 AND %" PRId64
                   " AND " MYSQL_PRIMARY_SQL " AND origin = %s "
                   "AND origin = ",
                   request->want, request->limit - request->want, now);
    mysql_link_quote(link, mysql->base.origin);
    mysql_link_add(link, " AND name = ");
    mysql_link_quote(link, request->counter);
}

/* Many are one transaction; one is its own. From the SELECT on nobody can put
 * another table in the place of seqb_counters, so that the origin read after it
 * holds to the end. */
static void grants_write(struct mysql_row *mysql, size_t n)
{
    struct mysql_link *link = &mysql->link;

    if (n == 1) {
        grant_write(mysql, mysql->turns[0].request, ORIGIN_SQL);
        return;
    }
    mysql_link_add(link, "BEGIN;SELECT 1 FROM seqb_counters LIMIT 0 FOR UPDATE;"
                         "SET @seqb_origin = " ORIGIN_SQL ";");
    for (size_t i = 0; i < n; i++) {
        grant_write(mysql, mysql->turns[i].request, "@seqb_origin");
        mysql_link_add(link, ";");
    }
    mysql_link_add(link, "COMMIT");
}

/* The value is this very packet's, and only if this statement changed its
 * row: the session's LAST_INSERT_ID() outlives a statement that did not. */
static enum seqb_status grant_read(struct mysql_link *link,
                                   struct seqb_request *request,
                                   struct seqb_error *err)
{
    int64_t value;

    request->window = SEQB_NO_WINDOW;
    request->status = SEQB_FENCED; /* until it is found out */
    if (link->changed == 0)
        return SEQB_OK;
    value = (int64_t)link->insert_id;
    if (link->changed != 1 || value < request->want || value > request->limit)
        return mysql_link_distrust(link, "UPDATE", err);
    request->status = SEQB_OK;
    request->block =
        (struct seqb_block){value - request->want + 1, request->want};
    return SEQB_OK;
}

static enum seqb_status grants_read(struct mysql_row *mysql, size_t n,
                                    struct seqb_error *err)
{
    struct mysql_link *link = &mysql->link;
    enum seqb_status status;

    if (n == 1) {
        status = mysql_link_next_commit(link, err);
        return status == SEQB_OK
                   ? grant_read(link, mysql->turns[0].request, err)
                   : status;
    }
    status = mysql_link_skip(link, 3, err);
    for (size_t i = 0; i < n && status == SEQB_OK; i++) {
        status = mysql_link_next(link, err);
        if (status == SEQB_OK)
            status = grant_read(link, mysql->turns[i].request, err);
    }
    return status == SEQB_OK ? mysql_link_next_commit(link, err) : status;
}

/* Keeps those that have no grant yet, in their order; how many. */
static size_t turns_left(struct mysql_row *mysql, size_t n)
{
    size_t left = 0;

    for (size_t i = 0; i < n; i++) {
        if (mysql->turns[i].request->status != SEQB_OK)
            mysql->turns[left++] = mysql->turns[i];
    }
    return left;
}

/* --- reserve: what the one statement could not serve --- */

static void request_explain(const struct mysql_row *mysql,
                            struct seqb_request *request)
{
    (void)error_set(&request->error, request->status, "%s: counter %s: %s",
                    mysql->link.where, request->counter,
                    seqb_status_text(request->status));
}

/* The counter may have been there, and was purged. */
static void request_tell_over(const struct mysql_row *mysql,
                              struct seqb_request *request)
{
    request->status =
        error_set(&request->error, SEQB_EXHAUSTED,
                  "%s: counter %s: its period is over and was purged: is this "
                  "machine's clock behind?",
                  mysql->link.where, request->counter);
}

/* Whether values may be taken from the row. */
static enum seqb_status row_verdict(const struct mysql_counter *row,
                                    int64_t limit)
{
    if (row->state == MYSQL_COUNTER_DAMAGED)
        return SEQB_CORRUPT;
    if (row->state != MYSQL_COUNTER_BOUND)
        return SEQB_FENCED;
    return row->value < limit ? SEQB_OK : SEQB_EXHAUSTED;
}

/* Where a counter goes on: at its row, or where it begins if it has none. */
static struct mysql_counter row_from(const struct mysql_counter *row,
                                     const struct mysql_counter *base,
                                     int64_t begins_ms)
{
    struct mysql_counter from =
        row->state == MYSQL_COUNTER_ABSENT ? *base : *row;

    if (row->state == MYSQL_COUNTER_ABSENT && begins_ms > base->mark_ms)
        from.value = 0;
    return from;
}

/* Serves one request from its locked row; writes what makes it so. */
static void request_serve(struct mysql_row *mysql, struct seqb_request *request,
                          struct mysql_counter *row,
                          const struct mysql_counter *base)
{
    const struct mysql_counter from = row_from(row, base, request->begins_ms);
    int64_t count = request->want;

    if (row->state == MYSQL_COUNTER_ABSENT &&
        row->mark_ms > request->begins_ms) {
        request_tell_over(mysql, request);
        return;
    }
    request->status = row_verdict(&from, request->limit);
    if (request->status != SEQB_OK) {
        request_explain(mysql, request);
        return;
    }
    if (count > request->limit - from.value)
        count = request->limit - from.value;
    request->block = (struct seqb_block){from.value + 1, count};
    row->value = from.value + count;
    mysql_rows_put(&mysql->link, mysql->base.origin, row);
}

/* So many turns in one transaction, with their rows locked. */
static enum seqb_status turns_lock(struct mysql_row *mysql,
                                   const struct turn *turns, size_t n,
                                   struct seqb_error *err)
{
    struct mysql_counter base;
    size_t granted = 0;
    enum seqb_status status;

    for (size_t i = 0; i < n; i++)
        mysql->rows[i].name = turns[i].counter;
    status = mysql_rows_lock(&mysql->link, mysql->base.origin, &base,
                             mysql->rows, n, err);
    if (status != SEQB_OK)
        return status;
    for (size_t i = 0; i < n; i++) {
        request_serve(mysql, turns[i].request, &mysql->rows[i], &base);
        granted += turns[i].request->status == SEQB_OK;
    }
    return granted > 0 ? mysql_rows_commit(&mysql->link, granted, err)
                       : mysql_rows_abandon(&mysql->link, err);
}

/* Whether the server refused a statement, undid what came before it, and goes
 * on: counters that are known need fewer rights than new ones. */
static bool turns_are_refused(struct mysql_row *mysql, enum seqb_status status)
{
    return mysql->link.handle != NULL &&
           (status == SEQB_REFUSED || status == SEQB_CORRUPT) &&
           mysql_rows_abandon(&mysql->link, NULL) == SEQB_OK;
}

/* Those that are left; where some of them are refused, each by itself. */
static enum seqb_status turns_settle(struct mysql_row *mysql, size_t n,
                                     struct seqb_error *err)
{
    enum seqb_status status = turns_lock(mysql, mysql->turns, n, err);

    if (!turns_are_refused(mysql, status))
        return status;
    for (size_t i = 0; i < n; i++) {
        struct seqb_request *request = mysql->turns[i].request;

        status = turns_lock(mysql, &mysql->turns[i], 1, err);
        if (turns_are_refused(mysql, status))
            request->status =
                error_set(&request->error, status, "counter %s: %s",
                          request->counter, err->text);
        else if (status != SEQB_OK)
            return status;
    }
    return SEQB_OK;
}

static enum seqb_status turns_grant(struct mysql_row *mysql, size_t n,
                                    struct seqb_error *err)
{
    enum seqb_status status = mysql_link_begin(&mysql->link, err);

    if (status != SEQB_OK)
        return status;
    qsort(mysql->turns, n, sizeof mysql->turns[0], turn_order);
    grants_write(mysql, n);
    status = mysql_link_send(&mysql->link, SEQB_UNCERTAIN, err);
    return status == SEQB_OK ? grants_read(mysql, n, err) : status;
}

static enum seqb_status mysql_row_reserve(struct seqb_backend *backend,
                                          struct seqb_request *requests,
                                          size_t n, struct seqb_error *err)
{
    struct mysql_row *mysql = (struct mysql_row *)backend;
    struct seqb_error why;
    enum seqb_status status;
    size_t left = n;

    assert(n >= 1 && n <= REQUESTS_MAX);
    for (size_t i = 0; i < n; i++)
        mysql->turns[i] = (struct turn){requests[i].counter, &requests[i]};
    status = turns_grant(mysql, n, &why);
    if (status == SEQB_OK) {
        left = turns_left(mysql, n);
        if (left > 0)
            status = turns_settle(mysql, left, &why);
    }
    if (status == SEQB_OK)
        return SEQB_OK;
    for (size_t i = 0; i < left; i++)
        mysql->turns[i].request->status =
            error_copy(&mysql->turns[i].request->error, &why);
    mysql_link_close(&mysql->link);
    return error_copy(err, &why);
}

/* --- raise --- */

static enum seqb_status mysql_row_raise(struct seqb_backend *backend,
                                        const struct seqb_raise *raise,
                                        int64_t *out, struct seqb_error *err)
{
    struct mysql_row *mysql = (struct mysql_row *)backend;
    enum seqb_status status = mysql_link_begin(&mysql->link, err);

    if (status != SEQB_OK)
        return status;
    status = mysql_row_raise_locked(&mysql->link, mysql->base.origin, raise,
                                    out, err);
    if (status != SEQB_OK && mysql->link.handle != NULL &&
        mysql_rows_abandon(&mysql->link, NULL) != SEQB_OK)
        mysql_link_close(&mysql->link);
    return status;
}

/* --- the rest --- */

static enum seqb_status mysql_row_install(struct seqb_backend *backend,
                                          const struct seqb_window *window,
                                          int64_t *standing,
                                          struct seqb_error *err)
{
    const struct mysql_row *mysql = (const struct mysql_row *)backend;

    (void)standing;
    return error_set(err, SEQB_INVALID, "%s: %s: has no windows",
                     mysql->link.where, window->counter);
}

static enum seqb_status mysql_row_claim(struct seqb_backend *backend,
                                        const char *name, const char *text,
                                        char *standing, size_t size,
                                        struct seqb_error *err)
{
    struct mysql_row *mysql = (struct mysql_row *)backend;
    enum seqb_status status = mysql_link_begin(&mysql->link, err);

    if (status != SEQB_OK)
        return status;
    return mysql_claim(&mysql->link, name, text, standing, size, err);
}

static enum seqb_status mysql_row_swap(struct seqb_backend *backend,
                                       const struct seqb_swap *swap,
                                       char *standing, size_t size,
                                       struct seqb_error *err)
{
    struct mysql_row *mysql = (struct mysql_row *)backend;

    return mysql_swap(&mysql->link, swap, standing, size, err);
}

static enum seqb_status mysql_row_purge(struct seqb_backend *backend,
                                        const struct seqb_purge *purge,
                                        int32_t *deleted,
                                        struct seqb_error *err)
{
    struct mysql_row *mysql = (struct mysql_row *)backend;

    return mysql_purge(&mysql->link, purge, deleted, err);
}

static enum seqb_status mysql_row_clock(struct seqb_backend *backend,
                                        int64_t *out_ms, struct seqb_error *err)
{
    struct mysql_row *mysql = (struct mysql_row *)backend;

    return mysql_server_clock(&mysql->link, out_ms, err);
}

static void mysql_row_close(struct seqb_backend *backend)
{
    struct mysql_row *mysql = (struct mysql_row *)backend;

    if (mysql == NULL)
        return;
    mysql_link_close(&mysql->link);
    free(mysql);
}

static enum seqb_status origin_read(struct mysql_row *mysql,
                                    struct seqb_error *err)
{
    struct mysql_link *link = &mysql->link;
    const char *origin = NULL;
    enum seqb_status status;

    mysql_link_add(link, "SELECT " ORIGIN_SQL);
    status = mysql_link_run(link, SEQB_UNREACHABLE, err);
    if (status != SEQB_OK)
        return status;
    if (mysql_link_row(link))
        origin = mysql_link_text(link, 0);
    if (origin == NULL ||
        !text_copy(mysql->base.origin, sizeof mysql->base.origin, origin))
        return mysql_link_distrust(link, "the origin", err);
    return SEQB_OK;
}

static enum seqb_status
mysql_row_open(const struct seqb_backend_options *options,
               struct seqb_backend **out, struct seqb_error *err)
{
    struct mysql_row *mysql = calloc(1, sizeof *mysql);
    enum seqb_status status;

    if (mysql == NULL)
        return error_set(err, SEQB_NO_MEMORY, "%s (mysql): out of memory",
                         options->name);
    mysql->base.ops = &backend_mysql_row;
    mysql->base.fd = -1;
    status = mysql_link_open(&mysql->link, options, err);
    if (status == SEQB_OK)
        status = mysql_server_check(&mysql->link, options, &mysql->base, err);
    if (status == SEQB_OK)
        status = mysql_claim_open(&mysql->link, options->create, err);
    if (status == SEQB_OK)
        status = origin_read(mysql, err);
    if (status != SEQB_OK) {
        mysql_row_close(&mysql->base);
        return status;
    }
    *out = &mysql->base;
    return SEQB_OK;
}

const struct seqb_backend_ops backend_mysql_row = {
    .engine = "mysql-row",
    .guarantee = SEQB_DIRECT,
    .library = mysql_link_library,
    .open = mysql_row_open,
    .reserve = mysql_row_reserve,
    .raise = mysql_row_raise,
    .install = mysql_row_install,
    .claim = mysql_row_claim,
    .swap = mysql_row_swap,
    .purge = mysql_row_purge,
    .clock = mysql_row_clock,
    .close = mysql_row_close,
};
