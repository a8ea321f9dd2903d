/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mysql-autoinc engine: direct counters. Each has an AUTO_INCREMENT table
 * of its own, in which one row is one id, and a row in seqb_counters with the
 * highest id ever acknowledged and the origin. A counter without a table
 * (names.h) has only that row, and is served by the code of mysql-row. link.c
 * has the connection, tables.c creates and checks tables, ids.c makes ids,
 * raise.c raises.
 */
#include "backends/backends.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backends/mysql/autoinc/ids.h"
#include "backends/mysql/autoinc/raise.h"
#include "backends/mysql/autoinc/tables.h"
#include "backends/mysql/connect/connect.h"
#include "backends/mysql/mysql.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

/* The most rows that one transaction makes, and for one request: about 30 us
 * each. And the most counters in one transaction: about 100 us each. */
#define CALL_ROWS     1024
#define REQUEST_ROWS  256
#define CALL_COUNTERS 256

/* After PURGE_EVERY rows of a table at most PURGE_ROWS old ones are purged. */
#define PURGE_EVERY 1024
#define PURGE_ROWS  2048

struct autoinc {
    struct mysql mysql;
    struct mysql_tables tables;
    int64_t increment; /* ids of a table differ by a multiple of it */
    int64_t keep_rows; /* 0: all */

    /* The requests of the current call. */
    struct seqb_request *in_tables[SQL_REQUESTS_MAX];
    struct seqb_request *in_rows[SQL_REQUESTS_MAX];
};

/* --- open and close --- */

static void autoinc_close(struct seqb_backend *backend)
{
    struct autoinc *autoinc = (struct autoinc *)backend;

    if (autoinc == NULL)
        return;
    mysql_tables_fini(&autoinc->tables);
    mysql_link_close(&autoinc->mysql.link);
    free(autoinc);
}

/* Before these versions the next id was kept only in memory, and after a
 * restart began at the highest id in the table. */
static enum seqb_status version_check(const struct mysql_link *link,
                                      struct seqb_error *err)
{
    const int64_t least = link->is_mariadb ? 100204 : 80000;

    if (link->version >= least)
        return SEQB_OK;
    return error_set(err, SEQB_UNSAFE,
                     "%s: forgets the next id of a table when it restarts: "
                     "use %s or later, or engine mysql-row",
                     link->where,
                     link->is_mariadb ? "MariaDB 10.2.4" : "MySQL 8.0");
}

static enum seqb_status increment_read(struct autoinc *autoinc,
                                       struct seqb_error *err)
{
    struct mysql_link *link = &autoinc->mysql.link;
    enum seqb_status status;

    mysql_link_add(link, "SELECT @@SESSION.auto_increment_increment");
    status = mysql_link_run(link, SEQB_UNREACHABLE, err);
    if (status != SEQB_OK)
        return status;
    if (!mysql_link_row(link) ||
        !mysql_link_int64(link, 0, &autoinc->increment) ||
        autoinc->increment < 1)
        return mysql_link_distrust(link, "its increment", err);
    return SEQB_OK;
}

static enum seqb_status
autoinc_connect(struct autoinc *autoinc,
                const struct seqb_backend_options *options,
                struct seqb_error *err)
{
    enum seqb_status status =
        mysql_store_connect(&autoinc->mysql, options, err);

    if (status == SEQB_OK)
        status = version_check(&autoinc->mysql.link, err);
    if (status == SEQB_OK)
        status = mysql_store_enter(&autoinc->mysql, options, err);
    return status == SEQB_OK ? increment_read(autoinc, err) : status;
}

static enum seqb_status autoinc_open(const struct seqb_backend_options *options,
                                     struct seqb_backend **out,
                                     struct seqb_error *err)
{
    struct autoinc *autoinc = calloc(1, sizeof *autoinc);
    enum seqb_status status;

    if (autoinc == NULL)
        return error_set(err, SEQB_NO_MEMORY, "mysql-autoinc %s: out of memory",
                         options->name);
    autoinc->mysql.sql.base.ops = &backend_mysql_autoinc;
    autoinc->keep_rows = options->keep_rows;
    mysql_tables_init(&autoinc->tables, &autoinc->mysql, options);
    if (options->endpoints != NULL)
        status = error_set(err, SEQB_INVALID,
                           "mysql-autoinc %s: 'hosts' is for engine mysql-row: "
                           "in a Galera cluster each node counts ids by itself",
                           options->name);
    else if (mysql_format_is_valid(autoinc->tables.format))
        status = autoinc_connect(autoinc, options, err);
    else
        status = error_set(err, SEQB_INVALID,
                           "mysql-autoinc %s: table_format '%s' needs %%s and "
                           "%%d once each, and beside them only letters, "
                           "digits, _, $ and -",
                           options->name, autoinc->tables.format);
    if (status != SEQB_OK) {
        autoinc_close(&autoinc->mysql.sql.base);
        return status;
    }
    *out = &autoinc->mysql.sql.base;
    return SEQB_OK;
}

/* --- reserve --- */

/* Whether half of the call's time is over: then the remaining tables are left
 * to the next call. */
static bool call_is_late(const struct mysql_link *link)
{
    return clock_now_ms() >= link->deadline_ms - link->timeout_ms / 2;
}

static void request_put_off(const struct mysql_link *link,
                            struct seqb_request *request)
{
    request->status =
        error_set(&request->error, SEQB_AGAIN,
                  "%s: counter %s: no time was left for it in this call",
                  link->where, request->counter);
}

/* Checks the tables that were not checked yet, at least one; answers the
 * requests that it does not get to. */
static enum seqb_status parts_prepare(struct autoinc *autoinc,
                                      struct seqb_request *const *requests,
                                      size_t n, struct seqb_error *err)
{
    const struct mysql_link *link = &autoinc->mysql.link;
    bool is_first = true;

    for (size_t i = 0; i < n; i++) {
        struct seqb_request *request = requests[i];

        assert(request->guard == NULL);
        request->status = SEQB_OK;
        request->window = SEQB_NO_WINDOW;
        if (mysql_tables_find(&autoinc->tables, request->counter) != NULL)
            continue;
        if (is_first || !call_is_late(link))
            request->status = mysql_tables_prepare(
                &autoinc->tables, request->counter, true, &request->error);
        else
            request_put_off(link, request);
        is_first = false;
        if (request->status != SEQB_OK && link->handle == NULL)
            return error_copy(err, &request->error);
    }
    return SEQB_OK;
}

static int part_compare(const void *a, const void *b)
{
    return strcmp(((const struct mysql_part *)a)->table->counter,
                  ((const struct mysql_part *)b)->table->counter);
}

/* Makes the parts of the requests whose tables are ready; returns their
 * number. */
static size_t parts_fill(const struct autoinc *autoinc,
                         struct seqb_request *const *requests, size_t n,
                         struct mysql_part *parts)
{
    const int64_t share = CALL_ROWS / (int64_t)n;
    int64_t most = share < REQUEST_ROWS ? share : REQUEST_ROWS;
    size_t count = 0;

    /* Ids that are not consecutive are no block: all but one would be
     * wasted. */
    if (autoinc->increment > 1 || most < 1)
        most = 1;
    for (size_t i = 0; i < n; i++) {
        struct seqb_request *request = requests[i];

        if (request->status != SEQB_OK)
            continue;
        parts[count].request = request;
        parts[count].table =
            mysql_tables_find(&autoinc->tables, request->counter);
        parts[count++].rows = request->want < most ? request->want : most;
    }
    qsort(parts, count, sizeof *parts, part_compare);
    return count;
}

/* A part that the server refuses is removed. Nothing was done for the other
 * parts, and they are sent again without it. */
static enum seqb_status parts_serve(struct autoinc *autoinc,
                                    struct mysql_part *parts, size_t *n,
                                    struct seqb_error *err)
{
    while (*n > 0) {
        size_t refused;
        const enum seqb_status status =
            mysql_ids_make(&autoinc->mysql.link, autoinc->mysql.sql.base.origin,
                           parts, *n, &refused, err);

        if (refused == *n)
            return status;
        mysql_tables_forget(&autoinc->tables, parts[refused].table->counter);
        --*n;
        memmove(&parts[refused], &parts[refused + 1],
                (*n - refused) * sizeof *parts);
    }
    return SEQB_OK;
}

/* Purges at most one table per call. A failure does no harm: the ids are
 * committed, and the next call notices a lost connection. */
static void parts_purge(struct autoinc *autoinc, struct mysql_part *parts,
                        size_t n)
{
    struct mysql_link *link = &autoinc->mysql.link;
    const int64_t keep_rows = autoinc->keep_rows;
    size_t at = n;

    for (size_t i = 0; i < n; i++) {
        parts[i].table->unpurged += parts[i].made;
        if (parts[i].table->unpurged >= PURGE_EVERY)
            at = i;
    }
    if (at == n || keep_rows < 1 || keep_rows > INT64_MAX / autoinc->increment)
        return;
    parts[at].table->unpurged = 0;
    mysql_link_add(
        link, "DELETE FROM `%s` WHERE id <= %" PRId64 " ORDER BY id LIMIT %d",
        parts[at].table->name,
        parts[at].ids.first - keep_rows * autoinc->increment, PURGE_ROWS);
    (void)mysql_link_run(link, SEQB_UNREACHABLE, NULL);
}

/* Serves as many requests as fit in one transaction. */
static enum seqb_status requests_serve(struct autoinc *autoinc,
                                       struct seqb_request *const *requests,
                                       size_t n, struct mysql_part *parts,
                                       struct seqb_error *err)
{
    enum seqb_status status = parts_prepare(autoinc, requests, n, err);
    size_t count;

    if (status != SEQB_OK)
        return status;
    count = parts_fill(autoinc, requests, n, parts);
    status = parts_serve(autoinc, parts, &count, err);
    if (status != SEQB_OK)
        return status;
    parts_purge(autoinc, parts, count);
    for (size_t i = 0; i < count; i++) {
        mysql_ids_answer(&autoinc->mysql.link, &parts[i]);
        if (parts[i].state == PART_ABSENT) /* its next request may begin it */
            mysql_tables_forget(&autoinc->tables, parts[i].table->counter);
    }
    return SEQB_OK;
}

/* Usually one transaction; `*answered` requests were answered if it fails. */
static enum seqb_status tables_serve(struct autoinc *autoinc,
                                     struct seqb_request *const *requests,
                                     size_t n, size_t *answered,
                                     struct seqb_error *err)
{
    struct mysql_part parts[CALL_COUNTERS];
    enum seqb_status status = SEQB_OK;

    for (*answered = 0; status == SEQB_OK && *answered < n;) {
        const size_t left = n - *answered;
        const size_t some = left < CALL_COUNTERS ? left : CALL_COUNTERS;

        if (*answered > 0 && call_is_late(&autoinc->mysql.link)) {
            request_put_off(&autoinc->mysql.link, requests[(*answered)++]);
            continue;
        }
        status =
            requests_serve(autoinc, &requests[*answered], some, parts, err);
        if (status == SEQB_OK)
            *answered += some;
    }
    return status;
}

/* Splits the requests; returns how many need only a row: in_rows. */
static size_t requests_split(struct autoinc *autoinc,
                             struct seqb_request *requests, size_t n)
{
    size_t rows = 0;

    assert(n <= SQL_REQUESTS_MAX);
    for (size_t i = 0; i < n; i++) {
        if (mysql_has_table(requests[i].counter))
            autoinc->in_tables[i - rows] = &requests[i];
        else
            autoinc->in_rows[rows++] = &requests[i];
    }
    return rows;
}

/* Requests for rows come first: they are one transaction, however many there
 * are. */
static enum seqb_status autoinc_reserve(struct seqb_backend *backend,
                                        struct seqb_request *requests, size_t n,
                                        struct seqb_error *err)
{
    struct autoinc *autoinc = (struct autoinc *)backend;
    const size_t rows = requests_split(autoinc, requests, n);
    struct seqb_error why;
    size_t answered = 0;
    enum seqb_status status =
        rows > 0 ? sql_serve(backend, autoinc->in_rows, rows, &why)
                 : mysql_link_begin(&autoinc->mysql.link, &why);

    if (status == SEQB_OK)
        status = tables_serve(autoinc, autoinc->in_tables, n - rows, &answered,
                              &why);
    if (status == SEQB_OK)
        return SEQB_OK;
    for (size_t i = answered; i < n - rows; i++)
        autoinc->in_tables[i]->status =
            error_copy(&autoinc->in_tables[i]->error, &why);
    mysql_link_close(&autoinc->mysql.link);
    return error_copy(err, &why);
}

/* --- raise --- */

static enum seqb_status autoinc_raise(struct seqb_backend *backend,
                                      const struct seqb_raise *raise,
                                      int64_t *out, struct seqb_error *err)
{
    struct autoinc *autoinc = (struct autoinc *)backend;
    enum seqb_status status;

    if (!mysql_has_table(raise->counter))
        return sql_raise(backend, raise, out, err);
    assert(raise->guard == NULL);
    status = mysql_link_begin(&autoinc->mysql.link, err);
    if (status != SEQB_OK)
        return status;
    mysql_tables_forget(&autoinc->tables, raise->counter);
    status = mysql_tables_prepare(&autoinc->tables, raise->counter, false, err);
    if (status != SEQB_OK)
        return status;
    return mysql_raise(&autoinc->mysql,
                       mysql_tables_find(&autoinc->tables, raise->counter),
                       raise, out, err);
}

static enum seqb_status autoinc_permits(struct seqb_backend *backend,
                                        const char *counter,
                                        struct seqb_error *err)
{
    struct autoinc *autoinc = (struct autoinc *)backend;
    enum seqb_status status = mysql_permits(backend, counter, err);

    if (status != SEQB_OK || !mysql_has_table(counter))
        return status;
    return mysql_tables_permit(&autoinc->tables, counter, err);
}

const struct seqb_backend_ops backend_mysql_autoinc = {
    .engine = "mysql-autoinc",
    .guarantee = SEQB_DIRECT,
    .library = mysql_link_library,
    .open = autoinc_open,
    .reserve = autoinc_reserve,
    .raise = autoinc_raise,
    .install = sql_install,
    .claim = mysql_claim,
    .claim_many = mysql_claim_many,
    .describe = mysql_describe,
    .swap = mysql_swap,
    .purge = mysql_purge,
    .list = mysql_list,
    .clock = mysql_clock,
    .close = autoinc_close,
    .permits = autoinc_permits,
};
