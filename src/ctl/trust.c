/* SPDX-License-Identifier: Apache-2.0 */
/* seqctl trust: shows what the library tells. */
#include <seqbroker/admin.h>

#include "ctl/commands.h"

enum ctl_exit trust_run(const struct ctl_options *options, char **argument)
{
    const struct seqb_trust_options wanted = {
        .dry_run = options->given & CTL_DRY_RUN, .report = plan_show};
    struct seqb_error err;
    const enum ctl_exit result =
        plan_exit(seqb_trust(argument[0], argument[1], &wanted, &err));

    if (result != CTL_OK)
        ctl_complain("%s", err.text);
    return result;
}
