/* SPDX-License-Identifier: Apache-2.0 */
/* Why a reload is refused: all changes that need a migration. */
#include <string.h>

#include "config/build/effective.h"
#include "platform/error.h"
#include "platform/text.h"

#define REASONS_MAX 20 /* in one text */
#define MORE_SIZE   24 /* "; and 100000 more" */

static enum seqb_status refuse_one(const struct seqb_reload_change *change,
                                   struct seqb_error *err)
{
    return error_set(err, SEQB_LAYOUT,
                     "%s cannot change from '%s' to '%s' while the broker "
                     "runs; nothing was applied: %s",
                     change->path, change->before, change->after,
                     change->advice);
}

/* Appends a reason if there is room for all of it. */
static bool reason_add(char *text, size_t size,
                       const struct seqb_reload_change *change, bool is_first)
{
    char reason[SEQB_ERROR_TEXT_SIZE];

    return text_format(reason, sizeof reason, "%s %s from '%s' to '%s' (%s)",
                       is_first ? ":" : ";", change->path, change->before,
                       change->after, change->advice) &&
           strlen(text) + strlen(reason) < size &&
           text_append(text, size, "%s", reason);
}

static enum seqb_status refuse_all(const struct config_change *first,
                                   size_t count, struct seqb_error *err)
{
    char text[SEQB_ERROR_TEXT_SIZE];
    size_t listed = 0;

    (void)text_format(text, sizeof text,
                      "%zu changes are refused while the broker runs, and "
                      "nothing was applied",
                      count);
    for (const struct config_change *at = first;
         at != NULL && listed < REASONS_MAX; at = at->next) {
        if (at->report.need != SEQB_RELOAD_REFUSED)
            continue;
        if (!reason_add(text, sizeof text - MORE_SIZE, &at->report,
                        listed == 0))
            break;
        listed++;
    }
    if (listed < count)
        (void)text_append(text, sizeof text, "; and %zu more", count - listed);
    return error_set(err, SEQB_LAYOUT, "%s", text);
}

enum seqb_status config_allow(const struct config_changes *changes,
                              struct seqb_error *err)
{
    const size_t count = changes->counts[SEQB_RELOAD_REFUSED];
    const struct config_change *first = changes->first;

    if (count == 0)
        return SEQB_OK;
    while (first->report.need != SEQB_RELOAD_REFUSED)
        first = first->next;
    return count == 1 ? refuse_one(&first->report, err)
                      : refuse_all(first, count, err);
}
