/* SPDX-License-Identifier: Apache-2.0 */
/* What rows are bound to. */
#include "backends/sql/epoch.h"

#include <string.h>
#include <sys/random.h>

#include "platform/error.h"
#include "platform/text.h"

#define MARK '#'
#define DUE  '!'

/* The length of the store's part. No store's name contains the mark. */
static size_t store_length(const char *bound)
{
    const char *mark = strrchr(bound, MARK);

    return mark != NULL ? (size_t)(mark - bound) : strlen(bound);
}

bool sql_epoch_shares_store(const char *bound, const char *other)
{
    const size_t length = store_length(bound);

    return length > 0 && length == store_length(other) &&
           strncmp(bound, other, length) == 0;
}

bool sql_epoch_read(const char *base, const char *store,
                    char out[static SEQB_ORIGIN_SIZE])
{
    size_t length = strlen(base);

    if (!sql_epoch_shares_store(base, store))
        return false;
    if (length > store_length(base) && base[length - 1] == DUE)
        length--;
    return text_format(out, SEQB_ORIGIN_SIZE, "%.*s", (int)length, base);
}

/* Leaves one byte free for the '!' of sql_epoch_due. */
enum seqb_status sql_epoch_make(const char *where, const char *base,
                                const char *store,
                                char out[static SEQB_ORIGIN_SIZE],
                                struct seqb_error *err)
{
    uint32_t chance;

    if (base[0] == '\0' && text_copy(out, SEQB_ORIGIN_SIZE, store))
        return SEQB_OK;
    if (getrandom(&chance, sizeof chance, 0) != (ssize_t)sizeof chance)
        return error_set(err, SEQB_UNREACHABLE, "%s: no random bytes", where);
    if (text_format(out, SEQB_ORIGIN_SIZE - 1, "%s%c%08x", store, MARK,
                    (unsigned)chance))
        return SEQB_OK;
    return error_set(err, SEQB_PROTOCOL,
                     "%s: what names the store is too long for a row: %s; a "
                     "shorter host name helps",
                     where, store);
}

void sql_epoch_due(const char *bound, char out[static SQL_EPOCH_DUE_SIZE])
{
    (void)text_format(out, SQL_EPOCH_DUE_SIZE, "%s%c", bound, DUE);
}
