/* SPDX-License-Identifier: Apache-2.0 */
/* One round of seqctl status: brokers are asked, and shown one below the
 * other. */
#include <stdio.h>

#include "ctl/brokers.h"
#include "ctl/client.h"
#include "ctl/status/status.h"
#include "ctl/terminal/terminal.h"

struct round {
    const struct query *query;
    const struct view *view;
    size_t brokers;   /* how many were shown */
    size_t sequences; /* shown, of all brokers */
};

bool view_init(struct view *view, const struct ctl_options *options)
{
    *view = (struct view){.to = stdout,
                          .width = terminal_size().columns,
                          .is_wide = options->given & CTL_WIDE};
    if (color_choose(options->color, &view->is_colored))
        return true;
    ctl_complain("--color is auto, always or never, not \"%s\"",
                 options->color);
    return false;
}

/* Prints the broker's address if there are several. */
static void head_print(struct round *round, const struct ctl_options *options)
{
    if (!options->is_one_of_several)
        return;
    fprintf(round->view->to, "%s%s:\n", round->brokers++ > 0 ? "\n" : "",
            options->socket);
}

/* The reason is reported on stderr. */
static void silence_print(struct round *round,
                          const struct ctl_options *options)
{
    head_print(round, options);
    fputs("no status\n", round->view->to);
}

static enum ctl_exit status_print(const redisReply *status,
                                  const struct ctl_options *options,
                                  struct round *round)
{
    struct selection selection;
    enum ctl_exit result = selection_init(&selection, status, round->query);

    round->sequences += selection.sequences.count;
    if (result == CTL_OK && options->given & CTL_JSON) {
        result = status_object(status, &selection) ? CTL_OK : CTL_FAILED;
    } else if (result == CTL_OK) {
        head_print(round, options);
        result = status_report(status, &selection, round->view) ? CTL_OK
                                                                : CTL_FAILED;
    }
    selection_fini(&selection);
    return result;
}

static enum ctl_exit broker_show(const struct ctl_options *options,
                                 void *context)
{
    static const char *const words[] = {"SEQ.STATUS"};
    const struct round *round = context;
    redisReply *reply;
    enum ctl_exit result;

    (void)fflush(round->view->to); /* otherwise an interrupt could cut the
                                      output in two */
    interrupts_allow();
    result = client_ask(options, 1, words, &reply);
    interrupts_forbid();
    if (result == CTL_OK)
        result = status_print(reply, options, context);
    else if (options->is_one_of_several && (options->given & CTL_JSON) == 0)
        silence_print(context, options);
    freeReplyObject(reply);
    return result;
}

enum ctl_exit status_show(const struct ctl_options *options,
                          const struct query *query, const struct view *view,
                          size_t *shown)
{
    struct round round = {.query = query, .view = view};
    const enum ctl_exit result = brokers_each(options, broker_show, &round);

    *shown = round.sequences;
    return result;
}
