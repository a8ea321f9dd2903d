/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/key_list.h"

#include <string.h>

#include "platform/text.h"

void key_list_add(struct key_list *list, const char *key)
{
    const size_t used = strlen(list->names);

    if (list->named != list->count++)
        return;
    if (text_append(list->names, sizeof list->names, "%s%s",
                    used > 0 ? "," : "", key))
        list->named++;
    else
        list->names[used] = '\0';
}

const char *key_list_rest(const struct key_list *list)
{
    return list->named < list->count ? ",..." : "";
}
