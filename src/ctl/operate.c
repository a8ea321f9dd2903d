/* SPDX-License-Identifier: Apache-2.0 */
/* Orders to the daemon, one request each, and what to say when it obeyed.
 * What an order does is the daemon's. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctl/client.h"
#include "ctl/commands.h"
#include "ctl/json.h"

/* Sends a request whose answer is OK or an error. */
static enum ctl_exit order_send(const struct ctl_options *options, size_t words,
                                const char *const *word)
{
    redisReply *reply;
    const enum ctl_exit result = client_ask(options, words, word, &reply);

    freeReplyObject(reply);
    return result;
}

static enum ctl_exit partition_order(const struct ctl_options *options,
                                     const char *order, const char *partition,
                                     const char *outcome)
{
    const char *const words[] = {"SEQ.PARTITION", order, partition};
    const enum ctl_exit result = order_send(options, 3, words);

    if (result == CTL_OK)
        printf("%s: %s\n", partition, outcome);
    return result;
}

enum ctl_exit operate_quarantine(const struct ctl_options *options,
                                 char **argument)
{
    return partition_order(options, "QUARANTINE", argument[0],
                           "quarantined, until its probes succeed");
}

enum ctl_exit operate_rescue(const struct ctl_options *options, char **argument)
{
    return partition_order(options, "RESCUE", argument[0], "probed now");
}

static enum ctl_exit broker_drain(const struct ctl_options *options)
{
    static const char *const words[] = {"SEQ.DRAIN"};
    struct client client;
    redisReply *reply = NULL;
    enum ctl_exit result = client_open(options, &client);

    if (result == CTL_OK)
        result = client_call(&client, 1, words, &reply);
    if (result == CTL_OK)
        result = client_await_end(&client);
    if (result == CTL_OK)
        puts("the broker has stopped");
    freeReplyObject(reply);
    client_close(&client);
    return result;
}

enum ctl_exit operate_drain(const struct ctl_options *options, char **argument)
{
    if (options->given & CTL_BROKER)
        return broker_drain(options);
    return partition_order(options, "DRAIN", argument[0],
                           "drained, until it is resumed");
}

enum ctl_exit operate_resume(const struct ctl_options *options, char **argument)
{
    return partition_order(options, "RESUME", argument[0],
                           "resumed, once a probe succeeds");
}

enum ctl_exit operate_advance(const struct ctl_options *options,
                              char **argument)
{
    char to[24];
    const char *const words[] = {"SEQ.ADVANCE", argument[0], to};
    enum ctl_exit result;

    if ((options->given & CTL_TO) == 0) {
        ctl_complain("usage: seqctl advance KEY --to N");
        return CTL_USAGE;
    }
    snprintf(to, sizeof to, "%" PRId64, options->to);
    result = order_send(options, 3, words);
    if (result == CTL_OK)
        printf("%s: its numbers are above %s now\n", argument[0], to);
    return result;
}

/* --- health --- */

/* The exit codes of health are those that monitors know; they stand beside
 * the other commands' by their value only. */
static enum ctl_exit health_exit(const char *health)
{
    if (strcmp(health, "serving") == 0)
        return CTL_OK;
    if (strcmp(health, "degraded") == 0)
        return CTL_FAILED;
    return strcmp(health, "not serving") == 0 ? CTL_USAGE : CTL_UNREACHABLE;
}

static bool health_print(const char *health, const char *reason,
                         const char *warning)
{
    return printf("%s%s%s%s%s\n", health, reason[0] != '\0' ? ": " : "", reason,
                  warning[0] != '\0' ? "; warning: " : "", warning) >= 0;
}

static bool health_json(const char *health, const char *reason,
                        const char *warning)
{
    return json_line_print(
        json_pack("{so so so}", "health", json_of_text(health), "reason",
                  json_of_text(reason), "warning", json_of_text(warning)));
}

enum ctl_exit operate_health(const struct ctl_options *options, char **argument)
{
    static const char *const words[] = {"SEQ.HEALTH"};
    redisReply *reply;
    const enum ctl_exit result = client_ask(options, 1, words, &reply);
    const bool is_known =
        result == CTL_OK && reply_text(reply, "health")[0] != '\0';
    const char *health = is_known ? reply_text(reply, "health") : "unknown";
    const enum ctl_exit code = health_exit(health);
    bool is_printed;

    (void)argument;
    is_printed = (options->given & CTL_JSON ? health_json : health_print)(
        health, is_known ? reply_text(reply, "reason") : "no daemon answers",
        is_known ? reply_text(reply, "warning") : "");
    freeReplyObject(reply);
    return is_printed ? code : CTL_UNREACHABLE; /* unknown to who reads it */
}
