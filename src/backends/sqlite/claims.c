/* SPDX-License-Identifier: Apache-2.0 */
/* Claims: a text under a name, stored once and replaced only by a swap. */
#include "backends/sqlite/claims.h"

#include <string.h>

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

/* Runs in the caller's transaction, if there is one: that of opening a new
 * file. */
static enum seqb_status claim_add_safely(struct sqlite_link *link,
                                         const char *name, const char *text,
                                         struct seqb_error *err)
{
    enum seqb_status status;

    if (sqlite3_get_autocommit(link->db) == 0)
        return claim_add(link, name, text, err);
    status = sqlite_link_begin(link, err);
    if (status != SEQB_OK)
        return status;
    status = claim_add(link, name, text, err);
    return sqlite_link_end(link, status, err);
}

/* Claims are never removed. So it is safe to read first, and a normal start
 * writes nothing. */
static enum seqb_status claim_stand(struct sqlite_link *link, const char *name,
                                    const char *text, char *standing,
                                    size_t size, struct seqb_error *err)
{
    bool is_found;
    enum seqb_status status =
        claim_find(link, name, standing, size, &is_found, err);

    if (status != SEQB_OK || is_found || text == NULL)
        return status;
    status = claim_add_safely(link, name, text, err);
    if (status != SEQB_OK)
        return status;
    return claim_find(link, name, standing, size, &is_found, err);
}

/* As claim_stand, while the file has the incarnation of open. */
static enum seqb_status claim_stand_now(struct sqlite *sqlite, const char *name,
                                        const char *text, char *standing,
                                        size_t size, struct seqb_error *err)
{
    struct sqlite_link *link = &sqlite->link;
    enum seqb_status status =
        sqlite_link_begin_unchanged(link, &sqlite->sql.base, err);
    const int before = sqlite3_total_changes(link->db);

    if (status != SEQB_OK)
        return status;
    status = claim_stand(link, name, text, standing, size, err);
    if (status == SEQB_OK && sqlite3_total_changes(link->db) != before)
        return sqlite_link_end(link, status, err);
    sqlite_link_abandon(link);
    return status;
}

enum seqb_status sqlite_claims_stand(struct sqlite *sqlite, const char *name,
                                     const char *text, char *standing,
                                     size_t size, struct seqb_error *err)
{
    if (sqlite->sql.base.incarnation[0] != '\0')
        return claim_stand_now(sqlite, name, text, standing, size, err);
    return claim_stand(&sqlite->link, name, text, standing, size, err);
}

/* --- many claims --- */

/* Reads claims from one name on, in order. A topology often lists its sequences
 * in the order of their keys, so the next claim of a call is mostly the next
 * row. A step to it takes a third of a search. */
struct walk {
    sqlite3_stmt *query;
    const char *name; /* of the row that it is at; NULL: it is at none */
};

/* A failure ends the walk. The search that follows reports it. */
static void walk_step(struct walk *walk)
{
    walk->name = sqlite3_step(walk->query) == SQLITE_ROW
                     ? (const char *)sqlite3_column_text(walk->query, 0)
                     : NULL;
}

static void walk_begin(struct walk *walk, struct sqlite_link *link,
                       const char *name)
{
    (void)sqlite3_reset(walk->query);
    walk->query = sqlite_link_query(link, SQLITE_QUERY_CLAIMS_WALK, name);
    walk_step(walk);
}

static bool walk_is_at(const struct walk *walk, const char *name)
{
    return walk->name != NULL && strcmp(walk->name, name) == 0;
}

/* The claim's text; NULL if it was not found. */
static const char *walk_find(struct walk *walk, struct sqlite_link *link,
                             const char *name)
{
    if (walk->name != NULL)
        walk_step(walk);
    if (!walk_is_at(walk, name))
        walk_begin(walk, link, name);
    return walk_is_at(walk, name)
               ? (const char *)sqlite3_column_text(walk->query, 1)
               : NULL;
}

/* A longer text is cut: see claim_many of <seqbroker/backend.h>. */
static enum seqb_status claim_stand_cut(struct sqlite_link *link,
                                        struct walk *walk,
                                        struct seqb_claim *claim,
                                        struct seqb_error *err)
{
    const char *text = walk_find(walk, link, claim->name);
    char standing[SEQB_CLAIM_SIZE];
    enum seqb_status status = SEQB_OK;

    if (text == NULL) {
        status = claim_stand(link, claim->name, claim->text, standing,
                             sizeof standing, err);
        text = standing;
    }
    if (status == SEQB_OK)
        (void)text_copy(claim->standing, sizeof claim->standing, text);
    return status;
}

enum seqb_status sqlite_claims_stand_many(struct sqlite *sqlite,
                                          struct seqb_claim *claims, size_t n,
                                          struct seqb_error *err)
{
    struct sqlite_link *link = &sqlite->link;
    struct walk walk = {.query = NULL};
    enum seqb_status status =
        sqlite_link_begin_unchanged(link, &sqlite->sql.base, err);
    const int before = sqlite3_total_changes(link->db);

    if (status != SEQB_OK)
        return status;
    for (size_t i = 0; i < n && status == SEQB_OK; i++)
        status = claim_stand_cut(link, &walk, &claims[i], err);
    (void)sqlite3_reset(walk.query);
    if (sqlite3_total_changes(link->db) != before)
        return sqlite_link_end(link, status, err);
    sqlite_link_abandon(link);
    return status;
}

enum seqb_status sqlite_claims_read(struct sqlite *sqlite,
                                    struct sql_guards *guards,
                                    struct seqb_error *err)
{
    char standing[SEQB_CLAIM_SIZE];
    enum seqb_status status = SEQB_OK;

    for (size_t i = 0; i < guards->count && status == SEQB_OK; i++) {
        bool is_found;

        status = claim_find(&sqlite->link, guards->claims[i].name, standing,
                            sizeof standing, &is_found, err);
        if (status == SEQB_OK)
            sql_guards_found(guards, i, is_found ? standing : NULL);
    }
    return status;
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

/* Begins a transaction in the incarnation that the swap needs. */
static enum seqb_status swap_begin(struct sqlite *sqlite,
                                   const struct seqb_swap *swap,
                                   struct seqb_error *err)
{
    struct sqlite_link *link = &sqlite->link;
    enum seqb_status status;

    if (swap->incarnation == NULL)
        return sqlite_link_begin_unchanged(link, &sqlite->sql.base, err);
    status = sqlite_link_begin_incarnated(link, err);
    if (status != SEQB_OK)
        return status;
    status =
        sql_swap_check(&sqlite->sql.base, swap, link->nonce, link->where, err);
    if (status != SEQB_OK)
        sqlite_link_abandon(link);
    return status;
}

static enum seqb_status swap_write(struct sqlite_link *link,
                                   const struct seqb_swap *swap,
                                   struct seqb_error *err)
{
    return swap->expected[0] == '\0'
               ? claim_add(link, swap->name, swap->text, err)
               : claim_replace(link, swap, err);
}

enum seqb_status sqlite_claims_swap(struct sqlite *sqlite,
                                    const struct seqb_swap *swap,
                                    char *standing, size_t size,
                                    struct seqb_error *err)
{
    struct sqlite_link *link = &sqlite->link;
    bool is_found;
    enum seqb_status status = swap_begin(sqlite, swap, err);

    if (status != SEQB_OK)
        return status;
    status = swap_write(link, swap, err);
    if (status == SEQB_OK)
        status = claim_find(link, swap->name, standing, size, &is_found, err);
    return sqlite_link_end(link, status, err);
}
