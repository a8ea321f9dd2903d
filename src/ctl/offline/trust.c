/* SPDX-License-Identifier: Apache-2.0 */
/* seqctl trust: shows what the library reports. */
#include <seqbroker/admin.h>

#include "ctl/commands.h"
#include "ctl/offline/offline.h"

enum ctl_exit trust_run(const struct ctl_options *options, char **argument)
{
    struct plan plan = {.is_json = options->given & CTL_JSON};
    const struct seqb_trust_options wanted = {.dry_run =
                                                  options->given & CTL_DRY_RUN,
                                              .report = plan_show,
                                              .context = &plan};
    struct seqb_error err;
    const enum seqb_status status =
        seqb_trust(argument[0], argument[1], &wanted, &err);

    return plan_end(&plan, status, &err);
}
