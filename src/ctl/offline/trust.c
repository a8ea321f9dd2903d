/* SPDX-License-Identifier: Apache-2.0 */
/* seqctl trust: shows what the library reports. */
#include <stdio.h>

#include <seqbroker/admin.h>

#include "ctl/commands.h"
#include "ctl/offline/offline.h"

/* Fills the error with the refusal of what may repeat numbers for good. */
static enum seqb_status refuse(const char *backend, struct seqb_error *err)
{
    err->status = SEQB_UNSAFE;
    snprintf(err->text, sizeof err->text,
             "backend %.80s: nothing takes this back; nothing was written; if "
             "its store did not go back, say --force",
             backend);
    return err->status;
}

enum ctl_exit trust_run(const struct ctl_options *options, char **argument)
{
    const bool is_dry = (options->given & CTL_DRY_RUN) != 0;
    const bool is_forced = (options->given & CTL_FORCE) != 0;
    struct plan plan = {.is_json = options->given & CTL_JSON};
    const struct seqb_trust_options wanted = {
        .dry_run = is_dry || !is_forced, .report = plan_show, .context = &plan};
    struct seqb_error err;
    enum seqb_status status =
        seqb_trust(argument[0], argument[1], &wanted, &err);

    if (status == SEQB_OK && !is_dry && !is_forced)
        status = refuse(argument[1], &err);
    return plan_end(&plan, status, &err);
}
