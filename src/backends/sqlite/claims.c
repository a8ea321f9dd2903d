/* SPDX-License-Identifier: Apache-2.0 */
/* Claims: a text under a name, stored once and replaced by a swap alone. */
#include "backends/sqlite/claims.h"

#include "platform/error.h"
#include "platform/text.h"

static enum seqb_status claim_find(struct sqlite_link *link, const char *name,
                                   char *standing, size_t size, bool *is_found,
                                   struct seqb_error *err)
{
    sqlite3_stmt *query =
        sqlite_link_query(link, SQLITE_QUERY_CLAIM_FIND, name);
    const int result = sqlite3_step(query);
    enum seqb_status status = SEQB_OK;
    const char *text = NULL;

    *is_found = result == SQLITE_ROW;
    if (*is_found)
        text = (const char *)sqlite3_column_text(query, 0);
    if (result != SQLITE_ROW && result != SQLITE_DONE)
        status = sqlite_link_fail(link, result, "read", err);
    else if (!text_copy(standing, size, text != NULL ? text : ""))
        status = error_set(err, SEQB_PROTOCOL,
                           "sqlite %s: claim '%s' is longer than %zu bytes",
                           link->name, name, size - 1);
    (void)sqlite3_reset(query);
    return status;
}

static enum seqb_status claim_add(struct sqlite_link *link, const char *name,
                                  const char *text, struct seqb_error *err)
{
    sqlite3_stmt *query = sqlite_link_query(link, SQLITE_QUERY_CLAIM_ADD, name);

    (void)sqlite3_bind_text(query, 2, text, -1, SQLITE_STATIC);
    return sqlite_link_run(link, SQLITE_QUERY_CLAIM_ADD, err);
}

/* Claims are never removed, so that looking first is safe, and an ordinary
 * start writes nothing. */
enum seqb_status sqlite_claims_stand(struct sqlite_link *link, const char *name,
                                     const char *text, char *standing,
                                     size_t size, struct seqb_error *err)
{
    bool is_found;
    enum seqb_status status =
        claim_find(link, name, standing, size, &is_found, err);

    if (status != SEQB_OK || is_found || text == NULL)
        return status;
    status = claim_add(link, name, text, err);
    if (status != SEQB_OK)
        return status;
    return claim_find(link, name, standing, size, &is_found, err);
}

static enum seqb_status claim_replace(struct sqlite_link *link,
                                      const struct seqb_swap *swap,
                                      struct seqb_error *err)
{
    sqlite3_stmt *query =
        sqlite_link_query(link, SQLITE_QUERY_CLAIM_REPLACE, swap->name);

    (void)sqlite3_bind_text(query, 2, swap->text, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(query, 3, swap->expected, -1, SQLITE_STATIC);
    return sqlite_link_run(link, SQLITE_QUERY_CLAIM_REPLACE, err);
}

enum seqb_status sqlite_claims_swap(struct sqlite_link *link,
                                    const struct seqb_swap *swap,
                                    char *standing, size_t size,
                                    struct seqb_error *err)
{
    bool is_found;
    enum seqb_status status = sqlite_link_begin(link, err);

    if (status != SEQB_OK)
        return status;
    if (swap->expected[0] == '\0')
        status = claim_add(link, swap->name, swap->text, err);
    else
        status = claim_replace(link, swap, err);
    if (status == SEQB_OK)
        status = claim_find(link, swap->name, standing, size, &is_found, err);
    return sqlite_link_end(link, status, err);
}
