/* SPDX-License-Identifier: Apache-2.0 */
/* How seqctl talks to a person. */
#include "ctl/ctl.h"

#include <stdarg.h>
#include <stdio.h>

void ctl_complain(const char *format, ...)
{
    va_list arguments;

    fflush(stdout); /* what was printed came first */
    fputs("seqctl: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}
