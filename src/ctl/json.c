/* SPDX-License-Identifier: Apache-2.0 */
/* Values on stdout; see json.h. */
#include "ctl/json.h"

#include <stdio.h>

#include "ctl/ctl.h"

bool json_print(json_t *value, size_t flags)
{
    const bool is_printed =
        value != NULL &&
        json_dumpf(value, stdout, JSON_ENCODE_ANY | flags) == 0;

    json_decref(value);
    if (!is_printed && ferror(stdout) == 0) /* main.c reports a failure of
                                               stdout */
        ctl_complain("out of memory");
    return is_printed;
}

bool json_line_print(json_t *value)
{
    return json_print(value, 0) && putchar('\n') != EOF;
}
