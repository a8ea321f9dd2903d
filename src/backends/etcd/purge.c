/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on many counters: purges, which first store in the counter's mark
 * (sql/mark.h) what is over, and pages. */
#include <inttypes.h>
#include <string.h>

#include "backends/etcd/etcd.h"
#include "backends/name.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/text.h"

#define DELETE_MAX 1000 /* names per answer */

/* --- purges --- */

/* A mark is never lowered. */
static enum seqb_status note_try(struct etcd *etcd, const char *mark,
                                 const struct seqb_purge *purge,
                                 struct seqb_error *err)
{
    char text[ETCD_VALUE_SIZE];
    const char *keep = NULL;
    const struct etcd_row *row = &etcd->rows[1];
    int64_t before = -1;
    enum seqb_status status;

    etcd_rows_begin(etcd);
    if (!etcd_rows_add(etcd, ETCD_COUNTER, mark))
        return name_refuse(etcd->link.where, purge->counter, err);
    status = etcd_rows_read(etcd, err);
    if (status == SEQB_OK)
        status = etcd_run_check(etcd, err);
    if (status != SEQB_OK)
        return status;
    if (row->text != NULL)
        before = etcd_value_read(row->text, &keep);
    if (row->text != NULL && (before < 0 || keep == NULL))
        return error_set(err, SEQB_CORRUPT,
                         "%s: what is kept of the periods of counter %s is "
                         "damaged",
                         etcd->link.where, purge->counter);
    if (keep != NULL && before >= purge->before_ms &&
        strcmp(keep, purge->keep) >= 0)
        return SEQB_OK;
    if (keep == NULL || strcmp(keep, purge->keep) < 0)
        keep = purge->keep;
    if (before < purge->before_ms)
        before = purge->before_ms;
    (void)text_format(text, sizeof text, "%" PRId64 " %s", before, keep);
    etcd_write_begin(etcd);
    etcd_write_put(etcd, ETCD_COUNTER, mark, text);
    return etcd_write_end(etcd, err);
}

static enum seqb_status purge_note(struct etcd *etcd,
                                   const struct seqb_purge *purge,
                                   struct seqb_error *err)
{
    char mark[SEQB_COUNTER_SIZE];
    enum seqb_status status;

    if (!sql_purge_is_sane(purge) || !sql_mark_name(purge->counter, mark))
        return error_set(err, SEQB_INVALID,
                         "%s: counter %s: cannot be purged up to %s",
                         etcd->link.where, purge->counter, purge->keep);
    do {
        status = note_try(etcd, mark, purge, err);
    } while (status == SEQB_AGAIN && !etcd_link_is_late(&etcd->link));
    return status;
}

/* Deletes the begin of the range, up to the last name that was read. */
static enum seqb_status purge_delete(struct etcd *etcd,
                                     const struct seqb_purge *purge,
                                     int32_t *deleted, struct seqb_error *err)
{
    char from[SEQB_COUNTER_SIZE + 2];
    char last[SEQB_COUNTER_SIZE];
    char to[SEQB_COUNTER_SIZE + 2];
    char text[ETCD_VALUE_SIZE];
    struct etcd_range range = {.kind = ETCD_COUNTER,
                               .from = from,
                               .to = purge->keep,
                               .limit = purge->most < DELETE_MAX ? purge->most
                                                                 : DELETE_MAX};
    int64_t count = 0;
    size_t found;
    enum seqb_status status;

    (void)text_format(from, sizeof from, "%s@\x01", purge->counter);
    status = etcd_range_read(etcd, &range, err);
    if (status == SEQB_OK)
        status = etcd_run_check(etcd, err);
    found = range.count;
    if (status == SEQB_OK && found > 0 &&
        !etcd_range_row(etcd, &range, found - 1, last, text))
        status = etcd_link_distrust(&etcd->link, ETCD_READ, "a range", err);
    etcd_range_free(&range);
    if (status != SEQB_OK || found == 0)
        return status;
    (void)text_format(to, sizeof to, "%s\x01", last);
    range.to = to;
    status = etcd_range_delete(etcd, &range, &count, err);
    if (status == SEQB_OK)
        *deleted = (int32_t)count;
    return status;
}

/* Deletes as many as were asked for, or until there are no more. */
static enum seqb_status purge_run(struct etcd *etcd,
                                  const struct seqb_purge *purge,
                                  int32_t *deleted, struct seqb_error *err)
{
    struct seqb_purge rest = *purge;
    enum seqb_status status = SEQB_OK;

    while (rest.most > 0) {
        int32_t count = 0;

        status = purge_delete(etcd, &rest, &count, err);
        if (status == SEQB_AGAIN && !etcd_link_is_late(&etcd->link))
            continue;
        if (status != SEQB_OK || count == 0)
            break;
        *deleted += count;
        rest.most -= count < rest.most ? count : rest.most;
    }
    return status;
}

enum seqb_status etcd_purge(struct seqb_backend *backend,
                            const struct seqb_purge *purge, int32_t *deleted,
                            struct seqb_error *err)
{
    struct etcd *etcd = etcd_of(backend);
    enum seqb_status status;

    etcd_link_begin(&etcd->link, etcd->timeout_ms);
    status = purge_note(etcd, purge, err);
    if (status != SEQB_OK)
        return status;
    *deleted = 0;
    return purge_run(etcd, purge, deleted, err);
}

/* --- pages --- */

static enum seqb_status page_fill(struct etcd *etcd,
                                  const struct etcd_range *range,
                                  struct seqb_page *page,
                                  struct seqb_error *err)
{
    for (size_t i = 0; i < range->count; i++) {
        char name[SEQB_COUNTER_SIZE];
        char text[ETCD_VALUE_SIZE];
        const char *rest;
        enum seqb_status status;

        if (!etcd_range_row(etcd, range, i, name, text))
            return etcd_link_distrust(&etcd->link, ETCD_READ, "a range", err);
        status = sql_page_add(
            page, name, page->is_of_claims ? 0 : etcd_value_read(text, &rest),
            etcd->link.where, err);
        if (status != SEQB_OK)
            return status;
    }
    return SEQB_OK;
}

enum seqb_status etcd_list(struct seqb_backend *backend, struct seqb_page *page,
                           struct seqb_error *err)
{
    struct etcd *etcd = etcd_of(backend);
    struct sql_range names;
    struct etcd_range range = {.kind = page->is_of_claims ? ETCD_CLAIM
                                                          : ETCD_COUNTER,
                               .from = names.from,
                               .to = names.to,
                               .limit = page->most};
    enum seqb_status status =
        sql_page_begin(page, &names, etcd->link.where, err);

    if (status != SEQB_OK)
        return status;
    etcd_link_begin(&etcd->link, etcd->timeout_ms);
    status = etcd_range_read(etcd, &range, err);
    if (status == SEQB_OK)
        status = etcd_run_check(etcd, err);
    if (status == SEQB_OK)
        status = page_fill(etcd, &range, page, err);
    etcd_range_free(&range);
    return status;
}
