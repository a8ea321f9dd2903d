/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the rows that keep what periods need. */
#include "backends/sql/mark.h"

#include <string.h>

#include "backends/sql/cell.h"
#include "platform/text.h"

bool sql_name_is_stamped(const char *counter)
{
    return strchr(counter, '@') != NULL;
}

bool sql_mark_counts(const char *counter)
{
    return counter[0] == '\0' || sql_name_is_stamped(counter) ||
           sql_name_is_cell(counter);
}

bool sql_mark_name(const char *counter, char out[SEQB_COUNTER_SIZE])
{
    const char *stamp = strrchr(counter, '@');
    const size_t length =
        stamp != NULL ? (size_t)(stamp - counter) : strlen(counter);

    return text_format(out, SEQB_COUNTER_SIZE, SQL_MARK_BASE "%.*s",
                       (int)length, counter);
}

bool sql_purge_is_sane(const struct seqb_purge *purge)
{
    const size_t length = strlen(purge->counter);

    return strncmp(purge->keep, purge->counter, length) == 0 &&
           purge->keep[length] == '@';
}
