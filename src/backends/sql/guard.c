/* SPDX-License-Identifier: Apache-2.0 */
/* Compares claims with the guards that name them. */
#include "backends/sql/guard.h"

#include <assert.h>
#include <string.h>

#include "platform/error.h"
#include "platform/text.h"

/* The index of the claim of that name, or where to insert it. */
static size_t claim_place(const struct sql_guards *guards, const char *name)
{
    size_t i = guards->count;

    while (i > 0 && strcmp(guards->claims[i - 1].name, name) >= 0)
        i--;
    return i;
}

void sql_guards_add(struct sql_guards *guards, const struct seqb_guard *guard)
{
    struct sql_guarded *at;
    size_t i;

    if (guard == NULL)
        return;
    i = claim_place(guards, guard->name);
    at = &guards->claims[i];
    if (i < guards->count && strcmp(at->name, guard->name) == 0)
        return;
    assert(guards->count < SQL_GUARDS_MAX);
    memmove(at + 1, at, (guards->count - i) * sizeof *at);
    *at = (struct sql_guarded){.name = guard->name};
    guards->count++;
}

void sql_guards_found(struct sql_guards *guards, size_t i, const char *text)
{
    struct sql_guarded *claim = &guards->claims[i];

    claim->fits = text != NULL &&
                  text_copy(claim->standing, sizeof claim->standing, text);
}

enum seqb_status sql_guards_check(const struct sql_guards *guards,
                                  struct seqb_guard *guard, const char *where,
                                  const char *counter, struct seqb_error *err)
{
    const struct sql_guarded *claim;
    char wanted[SEQB_GUARD_SIZE];

    if (guard == NULL)
        return SEQB_OK;
    claim = &guards->claims[claim_place(guards, guard->name)];
    if (text_format(wanted, sizeof wanted, "%s%s", guard->text,
                    guards->incarnation) &&
        claim->fits && strcmp(claim->standing, wanted) == 0)
        return SEQB_OK;
    guard->has_failed = true;
    return error_set(err, SEQB_FENCED,
                     "%s: counter %s: nothing was changed, since claim '%s' is "
                     "'%s', not '%s%s'",
                     where, counter, guard->name, claim->standing, guard->text,
                     guards->incarnation);
}

/* --- incarnations --- */

enum seqb_status sql_guard_refuse(const char *where, const char *counter,
                                  const char *unknown, struct seqb_error *err)
{
    return error_set(err, SEQB_REFUSED,
                     "%s: counter %s: its guard cannot be compared, since the "
                     "store's incarnation is not known: %s",
                     where, counter,
                     unknown[0] != '\0' ? unknown
                                        : "open was not asked for it");
}

enum seqb_status sql_incarnation_check(const struct seqb_backend *backend,
                                       const char *now, const char *where,
                                       struct seqb_error *err)
{
    if (backend->incarnation[0] == '\0' ||
        strcmp(now, backend->incarnation) == 0)
        return SEQB_OK;
    return error_set(err, SEQB_UNREACHABLE,
                     "%s: the store is in another incarnation than when it was "
                     "opened (%s, was %s), open it again",
                     where, now, backend->incarnation);
}

enum seqb_status sql_swap_check(const struct seqb_backend *backend,
                                const struct seqb_swap *swap, const char *now,
                                const char *where, struct seqb_error *err)
{
    if (swap->incarnation == NULL)
        return sql_incarnation_check(backend, now, where, err);
    if (strcmp(now, swap->incarnation) == 0)
        return SEQB_OK;
    return error_set(err, SEQB_FENCED,
                     "%s: claim '%s': nothing was changed, since the store is "
                     "in incarnation %s, not %s",
                     where, swap->name, now, swap->incarnation);
}
