/* SPDX-License-Identifier: Apache-2.0 */
/* What the library reports of a plan, and how the plan ended. */
#include <stdio.h>

#include "ctl/complain.h"
#include "ctl/json.h"
#include "ctl/offline/offline.h"

/* Flushed at once: what is reported before the first write must be visible
 * before that write. */
void plan_show(void *context, const char *line)
{
    struct plan *plan = context;

    progress_erase(&plan->progress);
    if (plan->is_json) {
        fputs(plan->lines++ == 0 ? "{\"report\": [\n  " : ",\n  ", stdout);
        (void)json_print(json_of_text(line), 0);
    } else {
        puts(line);
    }
    fflush(stdout);
}

static enum ctl_exit plan_exit(enum seqb_status status)
{
    if (status == SEQB_OK)
        return CTL_OK;
    return status == SEQB_CONFIG || status == SEQB_INVALID ? CTL_USAGE
                                                           : CTL_FAILED;
}

/* If an error came before the first line, stdout stays empty. */
enum ctl_exit plan_end(struct plan *plan, enum seqb_status status,
                       const struct seqb_error *err)
{
    if (plan->is_json && (plan->lines > 0 || status == SEQB_OK))
        printf("%s], \"done\": %s}\n",
               plan->lines == 0 ? "{\"report\": [" : "\n",
               status == SEQB_OK ? "true" : "false");
    if (status != SEQB_OK) {
        complaint_code_set(seqb_status_name(status));
        ctl_complain("%s", err->text);
    }
    return plan_exit(status);
}
