/* SPDX-License-Identifier: Apache-2.0 */
/* How bench programs end if something fails: a measurement of less than all
 * would be wrong. */
#pragma once

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seqbroker/status.h>

_Noreturn static inline void die(const char *what)
{
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
    exit(EXIT_FAILURE);
}

/* With the reason of the system call that failed. */
_Noreturn static inline void die_of_errno(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
            strerror(errno));
    exit(EXIT_FAILURE);
}

static inline void must(enum seqb_status status, const struct seqb_error *err)
{
    if (status != SEQB_OK)
        die(err->text);
}
