/* SPDX-License-Identifier: Apache-2.0 */
/* What the library tells of what it is about to do, and how that ended. */
#include <stdio.h>

#include "ctl/commands.h"

/* At once: what was told before the first write must be seen before it. */
void plan_show(void *context, const char *line)
{
    (void)context;
    puts(line);
    fflush(stdout);
}

enum ctl_exit plan_exit(enum seqb_status status)
{
    if (status == SEQB_OK)
        return CTL_OK;
    return status == SEQB_CONFIG || status == SEQB_INVALID ? CTL_USAGE
                                                           : CTL_FAILED;
}
