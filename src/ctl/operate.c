/* SPDX-License-Identifier: Apache-2.0 */
/* Orders to the daemon, one request each, and the message when an order
 * succeeded. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/brokers.h"
#include "ctl/client.h"
#include "ctl/commands.h"
#include "ctl/json.h"
#include "ctl/terminal/terminal.h"

/* Sends a request. Without an answer it may be carried out: the daemon goes on
 * without its client. The caller frees `*out`, which may be NULL. */
static enum ctl_exit order_send(const struct ctl_options *options, size_t words,
                                const char *const *word, redisReply **out)
{
    struct client client;
    enum ctl_exit result = client_open(options, &client);

    *out = NULL;
    if (result == CTL_OK) {
        result = client_call(&client, words, word, out);
        if (result == CTL_UNREACHABLE)
            ctl_complain("the order may be carried out all the same: the "
                         "daemon's log or audit_file has its event `order` "
                         "then");
    }
    client_close(&client);
    return result;
}

static enum ctl_exit exit_of(bool is_printed)
{
    return is_printed ? CTL_OK : CTL_FAILED;
}

/* --- orders to a partition --- */

struct order {
    const char *name; /* in the protocol */
    const char *partition;
    const char *outcome;
    bool may_be_done; /* the order may have nothing to do */
};

static enum ctl_exit order_print(const struct ctl_options *options,
                                 const struct order *order, const char *outcome)
{
    if (options->given & CTL_JSON)
        return exit_of(json_line_print(
            json_pack("{so so}", "partition", json_of_text(order->partition),
                      "outcome", json_of_text(outcome))));
    broker_label_print(options);
    printf("%s: %s\n", order->partition, outcome);
    return CTL_OK;
}

/* Prints what a drain or a resume did, or that nothing had to be done. */
static enum ctl_exit report_print(const struct ctl_options *options,
                                  const struct order *order,
                                  const redisReply *reply)
{
    const char *before = reply_text(reply, "before");
    const bool was_drained = strcmp(before, "drained") == 0;
    char words[64];

    if (before[0] == '\0')
        return reply_refuse("SEQ.PARTITION", "lacks the state before");
    if (was_drained == (strcmp(order->name, "RESUME") == 0))
        return order_print(options, order, order->outcome);
    if (was_drained)
        return order_print(options, order, "was drained already");
    snprintf(words, sizeof words, "was not drained: it is %s",
             reply_text(reply, "after"));
    return order_print(options, order, words);
}

static enum ctl_exit order_give(const struct ctl_options *options,
                                void *context)
{
    const struct order *order = context;
    const char *const words[] = {"SEQ.PARTITION", order->name, order->partition,
                                 "REPORT"};
    redisReply *reply = NULL;
    enum ctl_exit result =
        order_send(options, order->may_be_done ? 4 : 3, words, &reply);

    if (result == CTL_OK)
        result = order->may_be_done
                     ? report_print(options, order, reply)
                     : order_print(options, order, order->outcome);
    freeReplyObject(reply);
    return result;
}

static enum ctl_exit partition_order(const struct ctl_options *options,
                                     struct order order)
{
    return brokers_each(options, order_give, &order);
}

enum ctl_exit operate_quarantine(const struct ctl_options *options,
                                 char **argument)
{
    return partition_order(
        options, (struct order){
                     "QUARANTINE", argument[0],
                     "quarantined, and probed after its rescue_after", false});
}

enum ctl_exit operate_rescue(const struct ctl_options *options, char **argument)
{
    return partition_order(
        options, (struct order){"RESCUE", argument[0], "probed now", false});
}

enum ctl_exit operate_resume(const struct ctl_options *options, char **argument)
{
    return partition_order(
        options, (struct order){"RESUME", argument[0],
                                "resumed, once a probe succeeds", true});
}

/* --- other orders --- */

static enum ctl_exit stopped_print(const struct ctl_options *options)
{
    if (options->given & CTL_JSON)
        return exit_of(
            json_line_print(json_pack("{ss}", "outcome", "stopped")));
    broker_label_print(options);
    puts("the broker has stopped");
    return CTL_OK;
}

static enum ctl_exit broker_drain(const struct ctl_options *options,
                                  void *context)
{
    static const char *const words[] = {"SEQ.DRAIN"};
    struct client client;
    redisReply *reply = NULL;
    enum ctl_exit result = client_open(options, &client);

    (void)context;
    if (result == CTL_OK)
        result = client_call(&client, 1, words, &reply);
    if (result == CTL_OK)
        result = client_await_end(&client);
    if (result == CTL_OK)
        result = stopped_print(options);
    freeReplyObject(reply);
    client_close(&client);
    return result;
}

enum ctl_exit operate_drain(const struct ctl_options *options, char **argument)
{
    if (options->given & CTL_BROKER)
        return brokers_each(options, broker_drain, NULL);
    return partition_order(
        options, (struct order){"DRAIN", argument[0],
                                "drained, until it is resumed", true});
}

static enum ctl_exit advanced_print(const struct ctl_options *options,
                                    const char *key, const char *to)
{
    if (options->given & CTL_JSON)
        return exit_of(json_line_print(
            json_pack("{so ss}", "key", json_of_text(key), "above", to)));
    printf("%s: its numbers are above %s now\n", key, to);
    return CTL_OK;
}

enum ctl_exit operate_advance(const struct ctl_options *options,
                              char **argument)
{
    char to[24];
    const bool is_forced = (options->given & CTL_FORCE) != 0;
    const char *const words[] = {"SEQ.ADVANCE", argument[0], to, "FORCE"};
    redisReply *reply = NULL;
    enum ctl_exit result;

    if ((options->given & CTL_TO) == 0) {
        ctl_complain("usage: seqctl advance KEY --to N");
        return CTL_USAGE;
    }
    snprintf(to, sizeof to, "%" PRId64, options->to);
    result = order_send(options, is_forced ? 4 : 3, words, &reply);
    freeReplyObject(reply);
    return result == CTL_OK ? advanced_print(options, argument[0], to) : result;
}

/* --- health --- */

/* Monitoring systems know these exit codes. They equal those of the other
 * commands only by value. */
static enum ctl_exit health_exit(const char *health)
{
    if (strcmp(health, "serving") == 0)
        return CTL_OK;
    if (strcmp(health, "degraded") == 0)
        return CTL_FAILED;
    return strcmp(health, "not serving") == 0 ? CTL_USAGE : CTL_UNREACHABLE;
}

struct health {
    const char *state;
    const char *reason;
    const char *warning;
};

static bool health_print(const struct ctl_options *options,
                         const struct health *health)
{
    bool is_colored = false;

    (void)color_choose(options->color, &is_colored);
    broker_label_print(options);
    color_print(stdout, health->state, health->state, is_colored);
    return printf("%s%s%s%s\n", health->reason[0] != '\0' ? ": " : "",
                  health->reason,
                  health->warning[0] != '\0' ? "; warning: " : "",
                  health->warning) >= 0;
}

static bool health_json(const struct health *health)
{
    return json_line_print(json_pack("{so so so}", "health",
                                     json_of_text(health->state), "reason",
                                     json_of_text(health->reason), "warning",
                                     json_of_text(health->warning)));
}

/* With several brokers, JSON has the error in place of an answer. */
static enum ctl_exit health_show(const struct ctl_options *options,
                                 void *context)
{
    static const char *const words[] = {"SEQ.HEALTH"};
    redisReply *reply;
    const enum ctl_exit result = client_ask(options, 1, words, &reply);
    const char *state = result == CTL_OK ? reply_text(reply, "health") : "";
    struct health health = {"unknown",
                            result == CTL_UNREACHABLE
                                ? "no daemon answers"
                                : "the daemon reported no health",
                            ""};
    enum ctl_exit code = CTL_UNREACHABLE;
    bool is_printed = true;

    (void)context;
    if (result == CTL_USAGE)
        return result;
    if (state[0] != '\0') {
        code = health_exit(state);
        health = (struct health){state, reply_text(reply, "reason"),
                                 reply_text(reply, "warning")};
    }
    if ((options->given & CTL_JSON) == 0)
        is_printed = health_print(options, &health);
    else if (result == CTL_OK || !options->is_one_of_several)
        is_printed = health_json(&health);
    freeReplyObject(reply);
    return is_printed ? code : CTL_UNREACHABLE; /* the reader does not know the
                                                   health */
}

enum ctl_exit operate_health(const struct ctl_options *options, char **argument)
{
    bool is_colored;

    (void)argument;
    if (color_choose(options->color, &is_colored))
        return brokers_each(options, health_show, NULL);
    ctl_complain("--color is auto, always or never, not \"%s\"",
                 options->color);
    return CTL_USAGE;
}
