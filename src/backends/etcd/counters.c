/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters: applies the rules of backends/sql to rows that are read, and
 * written if they did not change meanwhile. If they did, another broker was
 * faster, and the call repeats with the rows as they are then, until its
 * deadline. Counters that no other broker writes are not read (known.h).
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "backends/etcd/etcd.h"
#include "backends/name.h"
#include "platform/error.h"
#include "platform/text.h"

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

/* Uses the rows of counters as they were left. What the rules decide from them
 * is valid only if the write finds them so. */
static enum seqb_status rows_recall(struct etcd *etcd,
                                    struct sql_counter *counters, size_t n,
                                    struct seqb_error *err)
{
    if (!etcd_rows_recall(etcd))
        return error_set(err, SEQB_NO_MEMORY, "%s: out of memory",
                         etcd->link.where);
    if (etcd_run_check(etcd, err) != SEQB_OK)
        return err->status;
    now_set(etcd);
    for (size_t i = 1; i < n; i++) {
        const struct etcd_known_row *row =
            etcd_known_find(&etcd->known, counters[i].name);
        const struct sql_write left = {
            .name = counters[i].name, .window = row->window, .size = row->size};
        char room[SQL_CELL_ORIGIN_SIZE];
        const char *origin = sql_write_origin(&etcd->sql, &left, room);

        if (!etcd_rows_recall_counter(etcd, left.name, row->value, origin))
            return name_refuse(etcd->link.where, left.name, err);
        sql_found(&etcd->sql, &counters[i], row->value, origin);
        /* etcd_known_grants checked that no new note is needed. */
        counters[i].note =
            (struct sql_row){.state = SQL_ROW_BOUND, .value = INT64_MAX};
    }
    return SEQB_OK;
}

static enum seqb_status rows_lock(struct seqb_backend *backend,
                                  struct sql_counter *counters, size_t n,
                                  struct seqb_error *err)
{
    struct etcd *etcd = etcd_of(backend);
    struct sql_guards *guards = &etcd->sql.guards;
    enum seqb_status status;

    if (etcd->recalls)
        return rows_recall(etcd, counters, n, err);
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
    for (size_t i = 1; i < n; i++)
        etcd_known_read(&etcd->known, &counters[i]);
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

/* Keeps what was written, or that it must be read again. */
static void writes_keep(struct etcd *etcd, const struct sql_write *writes,
                        size_t n, bool is_written)
{
    for (size_t i = 0; i < n; i++) {
        if (is_written)
            etcd_known_write(&etcd->known, &writes[i]);
        else
            etcd_known_doubt(&etcd->known, writes[i].name);
    }
    if (is_written)
        etcd->known.base_revision = etcd->rows[1].revision;
}

static enum seqb_status rows_commit(struct seqb_backend *backend,
                                    const struct sql_write *writes, size_t n,
                                    struct seqb_error *err)
{
    struct etcd *etcd = etcd_of(backend);
    enum seqb_status status;

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
    status = etcd_write_end(etcd, err);
    writes_keep(etcd, writes, n, status == SEQB_OK);
    return status;
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

/* Those that a write alone can serve come first. */
static void requests_sort(const struct etcd *etcd,
                          struct seqb_request *requests, size_t n,
                          struct seqb_request **out)
{
    size_t first = 0;
    size_t last = n;

    for (size_t i = 0; i < n; i++) {
        if (etcd_known_grants(&etcd->known, &requests[i]))
            out[first++] = &requests[i];
        else
            out[--last] = &requests[i];
    }
}

/* How many of the first requests one transaction can serve: its rows with
 * ETCD_RUN, the base and, if they are read, the base's mark are at most
 * ETCD_ROWS_MAX. Sets whether they are read. */
static size_t part_begin(struct etcd *etcd,
                         struct seqb_request *const *requests, size_t n)
{
    size_t count = 0;
    size_t rows;

    etcd->recalls = etcd_known_grants(&etcd->known, requests[0]);
    rows = etcd->recalls ? 2 : 3;
    for (; count < n; count++) {
        const bool recalls = etcd_known_grants(&etcd->known, requests[count]);

        rows += recalls ? 1 : requests[count]->guard != NULL ? 3 : 2;
        if (recalls != etcd->recalls || rows > ETCD_ROWS_MAX)
            break;
    }
    return count;
}

/* Serves the first requests of a call. Sets how many were answered, which is 0
 * if another broker was faster and there is time to try again. */
static enum seqb_status part_serve(struct etcd *etcd,
                                   struct seqb_request *const *requests,
                                   size_t n, size_t *served,
                                   struct seqb_error *err)
{
    enum seqb_status status;

    *served = part_begin(etcd, requests, n);
    status = sql_serve(&etcd->sql.base, requests, *served, err);
    etcd->recalls = false;
    if (status != SEQB_AGAIN)
        return status;
    if (!etcd_link_is_late(&etcd->link))
        *served = 0;
    return SEQB_OK;
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
    size_t from = 0;

    assert(n >= 1 && n <= SQL_REQUESTS_MAX);
    etcd_link_begin(&etcd->link, etcd->timeout_ms);
    requests_sort(etcd, requests, n, all);
    while (from < n) {
        struct seqb_error why;
        size_t served;
        const enum seqb_status status =
            part_serve(etcd, &all[from], n - from, &served, &why);

        from += served;
        if (status == SEQB_OK)
            continue;
        rest_fail(&all[from], n - from, &why);
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
