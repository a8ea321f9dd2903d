/* SPDX-License-Identifier: Apache-2.0 */
/* seqctl status: what the command line asks for. */
#include "ctl/commands.h"
#include "ctl/status/status.h"

#define TOP_USUAL 20 /* sequences; --top or --all shows more */

/* JSON has as many sequences as the table. All of them are in the daemon's
 * order, since sorting many takes long. */
static enum ctl_exit query_init(struct query *query,
                                const struct ctl_options *options,
                                const char *name)
{
    const bool is_all = options->given & CTL_ALL;
    const bool is_json = options->given & CTL_JSON;
    const char *order = options->sort != NULL ? options->sort
                        : is_json && is_all   ? NULL
                                              : "rate";

    *query = (struct query){.name = name, .top = TOP_USUAL};
    if (order != NULL) {
        query->order = row_order_find(order);
        if (query->order == NULL) {
            ctl_complain("--sort is %s, not \"%s\"", row_order_names(), order);
            return CTL_USAGE;
        }
    }
    if (status_is_summary(options))
        query->order = NULL; /* all are added up */
    if (is_all || status_is_summary(options))
        query->top = SIZE_MAX;
    if (options->given & CTL_TOP)
        query->top = (size_t)options->top;
    return CTL_OK;
}

enum ctl_exit status_run(const struct ctl_options *options, char **argument)
{
    struct query query;
    struct view view;
    struct round_answers answers = {0};
    enum ctl_exit result;
    size_t shown;

    if (options->given & CTL_MARKDOWN)
        return status_doc_print();
    if (query_init(&query, options, argument[0]) != CTL_OK ||
        !view_init(&view, options))
        return CTL_USAGE;
    if (options->given & CTL_WATCH)
        return status_watch(options, &query);
    if (options->given & CTL_INTERVAL) {
        ctl_complain("status takes --interval with --watch only");
        return CTL_USAGE;
    }
    result = status_show(options, &query, &view, &answers, &shown);
    round_answers_fini(&answers);
    return result;
}
