/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters: applies the rules of backends/sql to rows that are read, and
 * written if they did not change meanwhile. If they did, another broker was
 * faster, and the call repeats with the rows as they are then, until its
 * deadline.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backends/etcd/etcd.h"
#include "platform/error.h"
#include "platform/text.h"

/* The most requests whose rows, notes and guards, with the base and ETCD_RUN,
 * fit into ETCD_ROWS_MAX. */
#define PART_MAX 40

/* --- the dialect --- */

static bool counters_add(struct etcd *etcd, const struct sql_counter *counters,
                         size_t n)
{
    const struct sql_guards *guards = &etcd->sql.guards;
    bool fits = true;

    etcd_rows_begin(etcd);
    for (size_t i = 0; i < n; i++)
        fits = fits && etcd_rows_add(etcd, ETCD_COUNTER, counters[i].name) &&
               etcd_rows_add(etcd, ETCD_COUNTER, counters[i].kept);
    for (size_t i = 0; i < guards->count; i++)
        fits = fits && etcd_rows_add(etcd, ETCD_CLAIM, guards->claims[i].name);
    return fits;
}

static void now_set(struct etcd *etcd)
{
    (void)text_copy(etcd->sql.guards.incarnation,
                    sizeof etcd->sql.guards.incarnation, etcd->run);
    (void)text_format(etcd->sql.now, sizeof etcd->sql.now, "%s|%s",
                      etcd->sql.base.origin, etcd->run);
}

static void counter_receive(const struct etcd *etcd, size_t i,
                            struct sql_counter *counter)
{
    const struct etcd_row *row = &etcd->rows[1 + 2 * i];
    const struct etcd_row *kept = row + 1;
    const char *rest;
    int64_t value;

    if (row->text != NULL) {
        value = etcd_value_read(row->text, &rest);
        sql_found(&etcd->sql, counter, value, rest);
    } else if (i == 0) {
        sql_found(&etcd->sql, counter, 0, ""); /* a base that is not bound */
    }
    if (kept->text != NULL) {
        value = etcd_value_read(kept->text, &rest);
        sql_kept_found(counter, value, rest, etcd->sql.base.origin);
    }
}

static enum seqb_status rows_lock(struct seqb_backend *backend,
                                  struct sql_counter *counters, size_t n,
                                  struct seqb_error *err)
{
    struct etcd *etcd = etcd_of(backend);
    struct sql_guards *guards = &etcd->sql.guards;
    enum seqb_status status;

    if (!counters_add(etcd, counters, n))
        return error_set(err, SEQB_INVALID, "%s: a name is too long",
                         etcd->link.where);
    status = etcd_rows_read(etcd, err);
    if (status == SEQB_OK)
        status = etcd_run_check(etcd, err);
    if (status != SEQB_OK)
        return status;
    now_set(etcd);
    for (size_t i = 0; i < n; i++)
        counter_receive(etcd, i, &counters[i]);
    for (size_t i = 0; i < guards->count; i++)
        sql_guards_found(guards, i, etcd->rows[1 + 2 * n + i].text);
    return SEQB_OK;
}

/* Truncated names share a note (sql/row.h), and etcd does not accept a key
 * twice in a transaction: the last write to the note has the highest value. */
static bool is_written_later(const struct sql_write *writes, size_t n, size_t i,
                             int64_t *highest)
{
    for (size_t j = i + 1; j < n; j++) {
        if (strcmp(writes[i].name, writes[j].name) == 0)
            return true;
    }
    *highest = writes[i].value;
    for (size_t j = 0; j < i; j++) {
        if (strcmp(writes[i].name, writes[j].name) == 0 &&
            writes[j].value > *highest)
            *highest = writes[j].value;
    }
    return false;
}

static enum seqb_status rows_commit(struct seqb_backend *backend,
                                    const struct sql_write *writes, size_t n,
                                    struct seqb_error *err)
{
    struct etcd *etcd = etcd_of(backend);

    etcd_write_begin(etcd);
    for (size_t i = 0; i < n; i++) {
        char room[SQL_CELL_ORIGIN_SIZE];
        char text[ETCD_VALUE_SIZE];
        int64_t value;

        if (is_written_later(writes, n, i, &value))
            continue;
        (void)text_format(text, sizeof text, "%" PRId64 " %s", value,
                          sql_write_origin(&etcd->sql, &writes[i], room));
        etcd_write_put(etcd, ETCD_COUNTER, writes[i].name, text);
    }
    return etcd_write_end(etcd, err);
}

/* Nothing to do: no lock is held between reading and writing. */
static enum seqb_status rows_abandon(struct seqb_backend *backend,
                                     struct seqb_error *err)
{
    (void)backend;
    (void)err;
    return SEQB_OK;
}

/* Rights belong to keys, so the refusal may concern one key alone. */
static bool rows_blame(const struct seqb_backend *backend,
                       enum seqb_status status)
{
    (void)backend;
    return status == SEQB_REFUSED;
}

const struct sql_dialect etcd_dialect = {
    .lock = rows_lock,
    .commit = rows_commit,
    .abandon = rows_abandon,
    .blames_row = rows_blame,
};

/* --- calls --- */

static int request_compare(const void *a, const void *b)
{
    const struct seqb_request *const *left = a;
    const struct seqb_request *const *right = b;

    return strcmp((*left)->counter, (*right)->counter);
}

/* Serves some requests of a call, until they are answered or the deadline
 * passes. */
static enum seqb_status part_serve(struct etcd *etcd,
                                   struct seqb_request *const *requests,
                                   size_t n, struct seqb_error *err)
{
    enum seqb_status status;

    do {
        status = sql_serve(&etcd->sql.base, requests, n, err);
    } while (status == SEQB_AGAIN && !etcd_link_is_late(&etcd->link));
    return status == SEQB_AGAIN ? SEQB_OK : status;
}

/* Fails the requests that were not sent. */
static void rest_fail(struct seqb_request *const *requests, size_t n,
                      const struct seqb_error *why)
{
    const enum seqb_status status =
        why->status == SEQB_UNCERTAIN ? SEQB_UNREACHABLE : why->status;

    for (size_t i = 0; i < n; i++)
        requests[i]->status =
            error_set(&requests[i]->error, status, "%s", why->text);
}

enum seqb_status etcd_reserve(struct seqb_backend *backend,
                              struct seqb_request *requests, size_t n,
                              struct seqb_error *err)
{
    struct etcd *etcd = etcd_of(backend);
    struct seqb_request *all[SQL_REQUESTS_MAX];

    assert(n >= 1 && n <= SQL_REQUESTS_MAX);
    etcd_link_begin(&etcd->link, etcd->timeout_ms);
    for (size_t i = 0; i < n; i++)
        all[i] = &requests[i];
    qsort(all, n, sizeof(struct seqb_request *), request_compare);
    for (size_t from = 0; from < n; from += PART_MAX) {
        const size_t count = n - from < PART_MAX ? n - from : PART_MAX;
        struct seqb_error why;
        const enum seqb_status status =
            part_serve(etcd, &all[from], count, &why);

        if (status == SEQB_OK)
            continue;
        rest_fail(&all[from + count], n - from - count, &why);
        return error_copy(err, &why);
    }
    return SEQB_OK;
}

enum seqb_status etcd_raise(struct seqb_backend *backend,
                            const struct seqb_raise *raise, int64_t *out,
                            struct seqb_error *err)
{
    struct etcd *etcd = etcd_of(backend);
    enum seqb_status status;

    etcd_link_begin(&etcd->link, etcd->timeout_ms);
    do {
        status = sql_raise(backend, raise, out, err);
    } while (status == SEQB_AGAIN && !etcd_link_is_late(&etcd->link));
    return status;
}

enum seqb_status etcd_install(struct seqb_backend *backend,
                              const struct seqb_window *window,
                              int64_t *standing, struct seqb_error *err)
{
    struct etcd *etcd = etcd_of(backend);
    const int64_t expected = *standing;
    enum seqb_status status;

    etcd_link_begin(&etcd->link, etcd->timeout_ms);
    do {
        *standing = expected;
        status = sql_install(backend, window, standing, err);
    } while (status == SEQB_AGAIN && !etcd_link_is_late(&etcd->link));
    return status;
}
