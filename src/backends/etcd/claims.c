/* SPDX-License-Identifier: Apache-2.0 */
/* Claims: read, and written if they are unchanged since they were read. */
#include <string.h>

#include "backends/etcd/etcd.h"
#include "backends/name.h"
#include "platform/error.h"
#include "platform/text.h"

/* The rows of a claim: first ETCD_RUN, then the claim. */
enum claim_row { ROW_RUN, ROW_CLAIM };

static enum seqb_status claim_add(struct etcd *etcd, const char *name,
                                  struct seqb_error *err)
{
    if (etcd_rows_add(etcd, ETCD_CLAIM, name))
        return SEQB_OK;
    return name_refuse(etcd->link.where, name, err);
}

/* The text of a row that was read, "" if the row does not exist. */
static enum seqb_status claim_text(const struct etcd *etcd, size_t row,
                                   const char *name, const char **text,
                                   struct seqb_error *err)
{
    *text = etcd->rows[row].text;
    if (*text != NULL && (*text)[0] == '\0')
        return error_set(err, SEQB_CORRUPT,
                         "%s: claim '%s' is empty or no text", etcd->link.where,
                         name);
    if (*text == NULL)
        *text = "";
    return SEQB_OK;
}

static enum seqb_status claim_read(struct etcd *etcd, const char *name,
                                   char *standing, size_t size,
                                   struct seqb_error *err)
{
    const char *text;
    enum seqb_status status;

    etcd_rows_begin(etcd);
    status = claim_add(etcd, name, err);
    if (status == SEQB_OK)
        status = etcd_rows_read(etcd, err);
    if (status == SEQB_OK)
        status = claim_text(etcd, ROW_CLAIM, name, &text, err);
    if (status != SEQB_OK || text_copy(standing, size, text))
        return status;
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

/* --- many claims --- */

/* This many claims and ETCD_RUN are read and written at once. */
#define CLAIMS_MAX (ETCD_ROWS_MAX - ROW_CLAIM)

/* A text that is too long is cut. */
static enum seqb_status many_read(struct etcd *etcd, struct seqb_claim *claims,
                                  size_t n, struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    etcd_rows_begin(etcd);
    for (size_t i = 0; i < n && status == SEQB_OK; i++)
        status = claim_add(etcd, claims[i].name, err);
    if (status == SEQB_OK)
        status = etcd_rows_read(etcd, err);
    if (status == SEQB_OK)
        status = etcd_run_check(etcd, err);
    for (size_t i = 0; i < n && status == SEQB_OK; i++) {
        const char *text;

        status = claim_text(etcd, ROW_CLAIM + i, claims[i].name, &text, err);
        if (status == SEQB_OK)
            (void)text_copy(claims[i].standing, sizeof claims[i].standing,
                            text);
    }
    return status;
}

static bool is_to_write(const struct seqb_claim *claim)
{
    return claim->text != NULL && claim->standing[0] == '\0';
}

static enum seqb_status many_write(struct etcd *etcd, struct seqb_claim *claims,
                                   size_t n, struct seqb_error *err)
{
    bool is_any = false;
    enum seqb_status status;

    etcd_write_begin(etcd);
    for (size_t i = 0; i < n; i++) {
        if (!is_to_write(&claims[i]))
            continue;
        etcd_write_put(etcd, ETCD_CLAIM, claims[i].name, claims[i].text);
        is_any = true;
    }
    if (!is_any)
        return SEQB_OK;
    status = etcd_write_end(etcd, err);
    for (size_t i = 0; i < n && status == SEQB_OK; i++) {
        if (is_to_write(&claims[i]))
            (void)text_copy(claims[i].standing, sizeof claims[i].standing,
                            claims[i].text);
    }
    return status;
}

enum seqb_status etcd_claim_many(struct seqb_backend *backend,
                                 struct seqb_claim *claims, size_t n,
                                 size_t *done, struct seqb_error *err)
{
    struct etcd *etcd = etcd_of(backend);
    enum seqb_status status;

    *done = n < CLAIMS_MAX ? n : CLAIMS_MAX;
    etcd_link_begin(&etcd->link, etcd->timeout_ms);
    do {
        status = many_read(etcd, claims, *done, err);
        if (status == SEQB_OK)
            status = many_write(etcd, claims, *done, err);
    } while (status == SEQB_AGAIN && !etcd_link_is_late(&etcd->link));
    return status;
}

/* --- swaps --- */

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
