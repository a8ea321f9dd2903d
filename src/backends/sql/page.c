/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a page. */
#include "backends/sql/page.h"

#include <string.h>

#include "platform/error.h"
#include "platform/text.h"

enum seqb_status sql_page_begin(struct seqb_page *page, struct sql_range *out,
                                const char *where, struct seqb_error *err)
{
    const size_t length = strlen(page->prefix);

    page->count = 0;
    if (page->most < 1 || length == 0 || page->prefix[length - 1] == '@' ||
        (unsigned char)page->prefix[length - 1] >= 0x7f ||
        !text_copy(out->to, sizeof out->to, page->prefix))
        return error_set(err, SEQB_INVALID,
                         "%s: counters with the prefix '%s' cannot be listed",
                         where, page->prefix);
    out->to[length - 1]++;
    (void)text_copy(out->from, sizeof out->from, page->prefix);
    /* The next possible name after a name is that name with the lowest byte
     * appended. */
    if (strcmp(page->after, page->prefix) >= 0 &&
        !text_format(out->from, sizeof out->from, "%s\x01", page->after))
        return error_set(err, SEQB_INVALID, "%s: no counter is named '%s'",
                         where, page->after);
    return SEQB_OK;
}

/* Checks the order, because a store whose index has another order would omit
 * counters. */
static bool is_next(const struct seqb_page *page, const char *name)
{
    const char *last =
        page->count > 0 ? page->listed[page->count - 1].counter : page->after;

    return page->count < page->most &&
           strncmp(name, page->prefix, strlen(page->prefix)) == 0 &&
           strcmp(name, last) > 0;
}

enum seqb_status sql_page_add(struct seqb_page *page, const char *name,
                              int64_t value, const char *where,
                              struct seqb_error *err)
{
    struct seqb_listed *listed = &page->listed[page->count];

    if (name == NULL || value < 0 || !is_next(page, name) ||
        !text_copy(listed->counter, sizeof listed->counter, name))
        return error_set(err, SEQB_CORRUPT,
                         "%s: counter %s is damaged or out of its order", where,
                         name != NULL ? name : "(no name)");
    listed->value = value;
    page->count++;
    return SEQB_OK;
}
