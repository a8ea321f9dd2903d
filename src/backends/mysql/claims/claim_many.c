/* SPDX-License-Identifier: Apache-2.0 */
/* Many claims in two round trips: one statement reads the existing claims,
 * another one adds the missing ones. */
#include <stdlib.h>
#include <string.h>

#include "backends/mysql/claims/claims.h"
#include "backends/mysql/claims/same.h"
#include "backends/mysql/mysql.h"
#include "platform/text.h"

/* This many are added within about 10 ms. */
#define CLAIMS_MAX 256

enum column { COLUMN_SAME, COLUMN_RUN, COLUMN_NAME, COLUMN_TEXT };

/* In the order of sql_claim_order. */
struct batch {
    struct seqb_claim *claims[CLAIMS_MAX];
    bool are_found[CLAIMS_MAX]; /* the store has a row, even an empty one */
    size_t n;
};

static struct seqb_claim **batch_find(struct batch *batch, const char *name)
{
    const struct seqb_claim key = {.name = name};
    const struct seqb_claim *wanted = &key;

    return bsearch(&wanted, batch->claims, batch->n,
                   sizeof(struct seqb_claim *), sql_claim_order);
}

/* Answers one row for each existing claim, or one row without a claim. */
static void batch_ask(const struct batch *batch, struct mysql_link *link)
{
    mysql_link_add(link, "SELECT store.is_same, store.run, c.name, c.text "
                         "FROM (SELECT ");
    mysql_same_add(link);
    mysql_link_add(link,
                   " AS is_same, %s AS run) AS store "
                   "LEFT JOIN seqb_claims AS c ON c.name IN (",
                   mysql_same_run(link));
    for (size_t i = 0; i < batch->n; i++) {
        mysql_link_add(link, i == 0 ? "" : ", ");
        mysql_link_quote(link, batch->claims[i]->name);
    }
    mysql_link_add(link, ")");
}

static enum seqb_status row_take(struct batch *batch, struct mysql_link *link,
                                 struct seqb_error *err)
{
    const char *name = mysql_link_text(link, COLUMN_NAME);
    const char *text = mysql_link_text(link, COLUMN_TEXT);
    struct seqb_claim **claim;
    int64_t is_same;
    enum seqb_status status;

    if (!mysql_link_int64(link, COLUMN_SAME, &is_same))
        return mysql_link_distrust(link, "claims", err);
    status = mysql_same_check(link, batch->claims[0]->name,
                              mysql_link_text(link, COLUMN_RUN), err);
    if (status != SEQB_OK)
        return status;
    if (is_same == 0)
        return mysql_same_lost(link, err);
    if (name == NULL)
        return SEQB_OK;
    claim = batch_find(batch, name);
    if (claim == NULL || text == NULL)
        return mysql_link_distrust(link, "claims", err);
    batch->are_found[claim - batch->claims] = true;
    (void)text_copy((*claim)->standing, sizeof(*claim)->standing, text);
    return SEQB_OK;
}

static enum seqb_status batch_read(struct batch *batch, struct mysql_link *link,
                                   struct seqb_error *err)
{
    size_t rows = 0;
    enum seqb_status status;

    for (size_t i = 0; i < batch->n; i++) {
        batch->claims[i]->standing[0] = '\0';
        batch->are_found[i] = false;
    }
    batch_ask(batch, link);
    status = mysql_link_run(link, SEQB_UNREACHABLE, err);
    for (; status == SEQB_OK && mysql_link_row(link); rows++)
        status = row_take(batch, link, err);
    if (status == SEQB_OK && rows == 0)
        return mysql_link_distrust(link, "claims", err);
    return status;
}

static bool is_to_add(const struct batch *batch, size_t i)
{
    return batch->claims[i]->text != NULL && !batch->are_found[i];
}

/* Returns the first claim to be added, NULL if there is none. */
static const struct seqb_claim *batch_add_rows(const struct batch *batch,
                                               struct mysql_link *link)
{
    const struct seqb_claim *first = NULL;

    for (size_t i = 0; i < batch->n; i++) {
        if (!is_to_add(batch, i))
            continue;
        mysql_link_add(link, first == NULL
                                 ? "INSERT INTO seqb_claims (name, text) "
                                   "SELECT name, text FROM (SELECT "
                                 : " UNION ALL SELECT ");
        mysql_link_quote(link, batch->claims[i]->name);
        mysql_link_add(link, first == NULL ? " AS name, " : ", ");
        mysql_link_quote(link, batch->claims[i]->text);
        if (first != NULL)
            continue;
        mysql_link_add(link, " AS text");
        first = batch->claims[i];
    }
    return first;
}

/* Adds the missing claims: all of them, or none if another broker added one
 * meanwhile. */
static enum seqb_status batch_add(const struct batch *batch,
                                  struct mysql_link *link, bool *is_done,
                                  struct seqb_error *err)
{
    const struct seqb_claim *first = batch_add_rows(batch, link);
    enum seqb_status status;

    *is_done = true;
    if (first == NULL)
        return SEQB_OK;
    mysql_link_add(link, ") AS new");
    status = mysql_same_insert(link, first->name, is_done, err);
    if (status != SEQB_OK || !*is_done)
        return status;
    for (size_t i = 0; i < batch->n; i++) {
        if (is_to_add(batch, i))
            (void)text_copy(batch->claims[i]->standing,
                            sizeof batch->claims[i]->standing,
                            batch->claims[i]->text);
    }
    return SEQB_OK;
}

/* Claims are never removed, so each round finds more of them. */
enum seqb_status mysql_claim_many(struct seqb_backend *backend,
                                  struct seqb_claim *claims, size_t n,
                                  size_t *done, struct seqb_error *err)
{
    struct mysql_link *link = &((struct mysql *)backend)->link;
    struct batch batch = {.n = n < CLAIMS_MAX ? n : CLAIMS_MAX};
    bool is_done = false;
    enum seqb_status status = mysql_link_begin(link, err);

    for (size_t i = 0; i < batch.n; i++)
        batch.claims[i] = &claims[i];
    qsort(batch.claims, batch.n, sizeof(struct seqb_claim *), sql_claim_order);
    *done = batch.n;
    mysql_same_expect(link, backend, NULL);
    while (status == SEQB_OK && !is_done) {
        status = batch_read(&batch, link, err);
        if (status == SEQB_OK)
            status = batch_add(&batch, link, &is_done, err);
    }
    return status;
}
