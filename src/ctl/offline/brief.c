/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of lines about places of a topology file, of which only the first ones
 * are printed. */
#include <stdio.h>
#include <string.h>

#include "ctl/offline/offline.h"

#define PRINTED_USUAL 20

/* "file:line: what". Lines about a pool or a backend are few, and have no
 * place. */
static bool has_place(const char *line)
{
    const char *colon = strstr(line, ": ");
    const char *digits = colon;

    if (colon == NULL)
        return false;
    while (digits > line && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    return digits < colon && digits > line && digits[-1] == ':';
}

bool brief_passes(struct brief *brief, const char *line)
{
    size_t more;

    if (sscanf(line, "... and %zu more", &more) == 1) {
        brief->left_out += more; /* the library keeps no more than 500 */
        return false;
    }
    if (brief->is_all || !has_place(line))
        return true;
    if (brief->printed == PRINTED_USUAL) {
        brief->left_out++;
        return false;
    }
    brief->printed++;
    return true;
}

void brief_end(struct brief *brief, const char *kind)
{
    if (brief->left_out > 0)
        printf("%s... and %zu more%s\n", kind, brief->left_out,
               brief->is_all ? "" : ": --all shows up to 500");
    brief->left_out = 0;
}
