/* SPDX-License-Identifier: Apache-2.0 */
/* Claims: read, and written if they are as they were read. */
#include <string.h>

#include "backends/etcd/etcd.h"
#include "platform/error.h"
#include "platform/text.h"

/* The claim stands behind the run. */
enum claim_row { ROW_RUN, ROW_CLAIM };

static enum seqb_status claim_read(struct etcd *etcd, const char *name,
                                   char *standing, size_t size,
                                   struct seqb_error *err)
{
    const char *text;
    enum seqb_status status;

    etcd_rows_begin(etcd);
    if (!etcd_rows_add(etcd, ETCD_CLAIM, name))
        return error_set(err, SEQB_INVALID,
                         "%s: the claim's name %.64s... is too long",
                         etcd->link.where, name);
    status = etcd_rows_read(etcd, err);
    if (status != SEQB_OK)
        return status;
    text = etcd->rows[ROW_CLAIM].text;
    if (text == NULL)
        text = "";
    else if (text[0] == '\0')
        return error_set(err, SEQB_CORRUPT,
                         "%s: claim '%s' is empty or no text", etcd->link.where,
                         name);
    if (text_copy(standing, size, text))
        return SEQB_OK;
    return error_set(err, SEQB_PROTOCOL,
                     "%s: claim '%s' is longer than %zu bytes",
                     etcd->link.where, name, size - 1);
}

static enum seqb_status claim_write(struct etcd *etcd, const char *name,
                                    const char *text, char *standing,
                                    size_t size, struct seqb_error *err)
{
    enum seqb_status status;

    if (strlen(text) >= size)
        return error_set(err, SEQB_PROTOCOL,
                         "%s: claim '%s' is longer than %zu bytes",
                         etcd->link.where, name, size - 1);
    etcd_write_begin(etcd);
    etcd_write_put(etcd, ETCD_CLAIM, name, text);
    status = etcd_write_end(etcd, err);
    if (status == SEQB_OK)
        (void)text_copy(standing, size, text);
    return status;
}

static enum seqb_status claim_try(struct etcd *etcd, const char *name,
                                  const char *text, char *standing, size_t size,
                                  struct seqb_error *err)
{
    enum seqb_status status = claim_read(etcd, name, standing, size, err);

    if (status == SEQB_OK)
        status = etcd_run_check(etcd, err);
    if (status != SEQB_OK || text == NULL || standing[0] != '\0')
        return status;
    return claim_write(etcd, name, text, standing, size, err);
}

enum seqb_status etcd_claim(struct seqb_backend *backend, const char *name,
                            const char *text, char *standing, size_t size,
                            struct seqb_error *err)
{
    struct etcd *etcd = etcd_of(backend);
    enum seqb_status status;

    etcd_link_begin(&etcd->link, etcd->timeout_ms);
    do {
        status = claim_try(etcd, name, text, standing, size, err);
    } while (status == SEQB_AGAIN && !etcd_link_is_late(&etcd->link));
    return status;
}

static enum seqb_status swap_try(struct etcd *etcd,
                                 const struct seqb_swap *swap, char *standing,
                                 size_t size, struct seqb_error *err)
{
    enum seqb_status status = claim_read(etcd, swap->name, standing, size, err);

    if (status == SEQB_OK)
        status = sql_swap_check(&etcd->sql.base, swap, etcd_run_now(etcd),
                                etcd->link.where, err);
    if (status == SEQB_OK)
        status = etcd_run_check(etcd, err);
    if (status != SEQB_OK || strcmp(standing, swap->expected) != 0)
        return status;
    return claim_write(etcd, swap->name, swap->text, standing, size, err);
}

enum seqb_status etcd_swap(struct seqb_backend *backend,
                           const struct seqb_swap *swap, char *standing,
                           size_t size, struct seqb_error *err)
{
    struct etcd *etcd = etcd_of(backend);
    enum seqb_status status;

    etcd_link_begin(&etcd->link, etcd->timeout_ms);
    do {
        status = swap_try(etcd, swap, standing, size, err);
    } while (status == SEQB_AGAIN && !etcd_link_is_late(&etcd->link));
    return status;
}
