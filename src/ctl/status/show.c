/* SPDX-License-Identifier: Apache-2.0 */
/* One round of seqctl status: brokers are asked, and shown one below the
 * other, or with a line each. */
#include <stdio.h>

#include "ctl/brokers.h"
#include "ctl/client.h"
#include "ctl/status/status.h"
#include "ctl/status/summary.h"
#include "ctl/terminal/terminal.h"

struct round {
    const struct query *query;
    const struct view *view;
    struct broker_answer *next;  /* of the broker that is shown next */
    size_t brokers;              /* how many were shown */
    size_t sequences;            /* shown, of all brokers */
    struct summaries *summaries; /* NULL: tables are shown */
};

bool status_is_summary(const struct ctl_options *options)
{
    return options->server_count > 1 &&
           (options->given &
            (CTL_JSON | CTL_WIDE | CTL_TOP | CTL_ALL | CTL_SORT)) == 0;
}

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
    if (round->summaries != NULL) {
        summary_add_silent(round->summaries, options->socket);
        return;
    }
    head_print(round, options);
    fputs("no status\n", round->view->to);
}

static enum ctl_exit status_print(const redisReply *status,
                                  const redisReply *health,
                                  const struct ctl_options *options,
                                  struct round *round)
{
    struct selection selection;
    enum ctl_exit result = selection_init(&selection, status, round->query);

    if (result == CTL_OK && round->summaries != NULL) {
        summary_add(round->summaries, options->socket, status, health,
                    &selection);
        selection_fini(&selection);
        return CTL_OK;
    }
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

/* The health is asked for only if it is shown. */
static enum ctl_exit broker_ask(const struct ctl_options *options,
                                redisReply **status, redisReply **health)
{
    static const char *const status_words[] = {"SEQ.STATUS"};
    static const char *const health_words[] = {"SEQ.HEALTH"};
    struct client client;
    enum ctl_exit result = client_open(options, &client);

    if (result == CTL_OK)
        result = client_call(&client, 1, status_words, status);
    if (result == CTL_OK && health != NULL)
        result = client_call(&client, 1, health_words, health);
    client_close(&client);
    return result;
}

static void answer_ask(const struct ctl_options *options,
                       const struct round *round, struct broker_answer *answer)
{
    (void)fflush(round->view->to); /* otherwise an interrupt could cut the
                                      output in two */
    interrupts_allow();
    answer->result =
        broker_ask(options, &answer->status,
                   round->summaries != NULL ? &answer->health : NULL);
    interrupts_forbid();
    answer->is_asked = true;
}

static enum ctl_exit broker_show(const struct ctl_options *options,
                                 void *context)
{
    struct round *round = context;
    struct broker_answer *answer = round->next++;

    if (!answer->is_asked)
        answer_ask(options, round, answer);
    if (answer->result == CTL_OK)
        return status_print(answer->status, answer->health, options, round);
    if (options->is_one_of_several && (options->given & CTL_JSON) == 0)
        silence_print(round, options);
    return answer->result;
}

void round_answers_fini(struct round_answers *answers)
{
    for (size_t i = 0; i < CTL_SERVERS_MAX; i++) {
        freeReplyObject(answers->broker[i].status);
        freeReplyObject(answers->broker[i].health);
    }
}

enum ctl_exit status_show(const struct ctl_options *options,
                          const struct query *query, const struct view *view,
                          struct round_answers *answers, size_t *shown)
{
    struct summaries summaries = {.count = 0};
    struct round round = {.query = query,
                          .view = view,
                          .next = answers->broker,
                          .summaries =
                              status_is_summary(options) ? &summaries : NULL};
    const enum ctl_exit result = brokers_each(options, broker_show, &round);

    if (summaries.count > 0)
        summaries_print(&summaries, view);
    summaries_fini(&summaries);
    *shown = round.sequences;
    return result;
}
