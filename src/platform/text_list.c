/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/text_list.h"

#include <string.h>

#include "platform/text.h"

#define MORE_SIZE 32 /* bytes for "; and 18446744073709551615 more" */

void text_list_init(struct text_list *list, char *out, size_t size,
                    const char *between)
{
    *list = (struct text_list){.out = out, .size = size, .between = between};
    out[0] = '\0';
}

void text_list_add(struct text_list *list, const char *entry)
{
    const size_t used = strlen(list->out);
    const size_t needed = used + strlen(list->between) + strlen(entry);

    if (used == 0 && list->left_out == 0)
        (void)text_copy(list->out, list->size, entry);
    else if (list->left_out == 0 && needed + MORE_SIZE < list->size)
        (void)text_append(list->out, list->size, "%s%s", list->between, entry);
    else
        list->left_out++;
}

void text_list_finish(struct text_list *list)
{
    const size_t used = strlen(list->out);

    if (list->left_out > 0 && used + MORE_SIZE < list->size)
        (void)text_append(list->out, list->size, "%sand %zu more",
                          list->between, list->left_out);
}
