/* SPDX-License-Identifier: Apache-2.0 */
/* The operator's commands: drain, resume, quarantine and rescue of a partition,
 * the broker's health, shutdown, and moving a sequence forwards. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seqbroker/admin.h>

#include "daemon/blocking_call.h"
#include "daemon/commands/commands.h"
#include "daemon/daemon.h"
#include "daemon/session.h"

#define PLACE_SIZE (2 * SEQB_NAME_MAX + 2)
#define ORDER_SIZE 32

static const struct {
    const char *word;
    enum seqb_order order;
} orders[] = {
    {"QUARANTINE", SEQB_ORDER_QUARANTINE},
    {"RESCUE", SEQB_ORDER_RESCUE},
    {"DRAIN", SEQB_ORDER_DRAIN},
    {"RESUME", SEQB_ORDER_RESUME},
};

static bool order_read(struct resp_slice word, enum seqb_order *out)
{
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        if (word_is(word, orders[i].word)) {
            *out = orders[i].order;
            return true;
        }
    }
    return false;
}

static const char *order_word(enum seqb_order order)
{
    size_t i = 0;

    while (orders[i].order != order)
        i++;
    return orders[i].word;
}

static void order_print(enum seqb_order order, char out[static ORDER_SIZE])
{
    snprintf(out, ORDER_SIZE, "SEQ.PARTITION %s", order_word(order));
}

/* "pool/partition", as in the fields of SEQ.STATUS. */
static void place_print(const struct seqb_partition_status *partition,
                        char *out, size_t size)
{
    if (partition->partition < 0)
        snprintf(out, size, "%s/authority", partition->pool);
    else
        snprintf(out, size, "%s/%d", partition->pool,
                 (int)partition->partition);
}

/* All partitions, and whether they belong to one pool, which then need not be
 * named. */
struct places {
    struct status_partition *all;
    size_t count;
    bool is_one_pool;
};

/* False if memory is short. */
static bool places_read(struct seqb_broker *broker, struct places *out)
{
    out->all = status_copy(broker, STATUS_OF_PARTITIONS, &out->count);
    out->is_one_pool = true;
    for (size_t i = 1; i < out->count; i++) {
        if (strcmp(out->all[i].known.pool, out->all[0].known.pool) != 0)
            out->is_one_pool = false;
    }
    return out->all != NULL;
}

/* Whether `name` is the place of the i-th partition or the name of its
 * backend. */
static bool is_meant(const struct places *places, size_t i, const char *name)
{
    const struct seqb_partition_status *partition = &places->all[i].known;
    char place[PLACE_SIZE];

    place_print(partition, place, sizeof place);
    return strcmp(place, name) == 0 || strcmp(partition->backend, name) == 0 ||
           (places->is_one_pool &&
            strcmp(place + strlen(partition->pool) + 1, name) == 0);
}

/* Answers that the backend has several places, and lists them: a command
 * applies to one place. */
static void reply_ambiguous(struct session *session, const char *name,
                            const struct places *places)
{
    char words[512] = "";
    char place[PLACE_SIZE];

    for (size_t i = 0; i < places->count; i++) {
        const size_t length = strlen(words);

        if (!is_meant(places, i, name))
            continue;
        place_print(&places->all[i].known, place, sizeof place);
        snprintf(words + length, sizeof words - length, "%s%s",
                 length > 0 ? ", " : "", place);
    }
    reply_error(&session->out, "ERR",
                "'%s' has several places, name one of them: %s", name, words);
}

/* The partition that `name` means. NULL after answering that there is none, or
 * more than one. */
static const struct seqb_partition_status *
place_find(struct session *session, const char *name,
           const struct places *places)
{
    const struct seqb_partition_status *found = NULL;

    for (size_t i = 0; i < places->count; i++) {
        if (!is_meant(places, i, name))
            continue;
        if (found != NULL) {
            reply_ambiguous(session, name, places);
            return NULL;
        }
        found = &places->all[i].known;
    }
    if (found == NULL)
        reply_error(&session->out, "ERR",
                    "there is no partition or backend '%s': name it as "
                    "pool/partition, pool/authority, or by its backend; "
                    "SEQ.STATUS lists them",
                    name);
    return found;
}

/* The current state of the partition, which may have changed since the status
 * was read. */
static const char *state_now(struct seqb_broker *broker,
                             const struct seqb_partition_status *partition)
{
    enum seqb_partition_state state = partition->state;
    struct places places;

    (void)places_read(broker, &places);
    for (size_t i = 0; i < places.count; i++)
        if (places.all[i].known.partition == partition->partition &&
            strcmp(places.all[i].known.pool, partition->pool) == 0)
            state = places.all[i].known.state;
    free(places.all);
    return seqb_partition_state_name(state);
}

static void reply_states(struct session *session, const char *before,
                         const char *after)
{
    reply_map(&session->out, 2, session->is_resp3);
    reply_field_string(&session->out, "before", before);
    reply_field_string(&session->out, "after", after);
}

static void order_carry_out(struct session *session, enum seqb_order order,
                            bool is_report,
                            const struct seqb_partition_status *partition)
{
    struct seqb_broker *broker = session->daemon->broker;
    char command[ORDER_SIZE];
    char place[PLACE_SIZE];
    struct audit_entry entry = {
        .command = command,
        .target = place,
        .before = seqb_partition_state_name(partition->state)};
    struct seqb_error err;

    order_print(order, command);
    place_print(partition, place, sizeof place);
    if (seqb_command(broker, partition->pool, partition->partition, order,
                     &err) == SEQB_OK) {
        entry.after = state_now(broker, partition);
        session_audit(session, audit_order, &entry);
        if (is_report)
            reply_states(session, entry.before, entry.after);
        else
            reply_simple(&session->out, "OK");
        return;
    }
    entry.reason = err.text;
    session_audit(session, audit_order_refused, &entry);
    reply_failure(&session->out, &err);
}

static void order_give(struct session *session, enum seqb_order order,
                       bool is_report, const char *name)
{
    const struct seqb_partition_status *found;
    struct places places;

    if (!places_read(session->daemon->broker, &places)) {
        reply_error(&session->out, "NOMEMORY", "out of memory");
        return;
    }
    found = place_find(session, name, &places);
    if (found != NULL) {
        order_carry_out(session, order, is_report, found);
    } else {
        char command[ORDER_SIZE];

        order_print(order, command);
        session_audit(
            session, audit_order_refused,
            &(struct audit_entry){.command = command,
                                  .target = name,
                                  .reason = "it does not name one partition"});
    }
    free(places.all);
}

enum command_outcome command_partition(struct session *session,
                                       const struct resp_request *request)
{
    const bool is_report =
        request->argc == 4 && word_is(request->argv[3], "REPORT");
    enum seqb_order order;
    char name[PLACE_SIZE];

    if (request->argc > 3 && !is_report)
        reply_error(&session->out, "ERR",
                    "syntax error, use SEQ.PARTITION order partition [REPORT]");
    else if (!order_read(request->argv[1], &order))
        reply_error(&session->out, "ERR",
                    "unknown order: use SEQ.PARTITION QUARANTINE, RESCUE, "
                    "DRAIN or RESUME, and a partition");
    else if (!word_copy(request->argv[2], name, sizeof name))
        reply_error(&session->out, "ERR",
                    "not the name of a partition or backend: it is too long");
    else
        order_give(session, order, is_report, name);
    return COMMAND_DONE;
}

enum command_outcome command_health(struct session *session,
                                    const struct resp_request *request)
{
    const char *leaves = daemon_leaves(session->daemon);
    enum seqb_health health;
    char reason[SEQB_HEALTH_SIZE];
    char warning[DAEMON_WARNING_SIZE];
    struct seqb_error err;

    (void)request;
    if (leaves != NULL) {
        health = SEQB_HEALTH_NOT_SERVING;
        snprintf(reason, sizeof reason, "%s", leaves);
    } else if (seqb_get_health(session->daemon->broker, &health, reason,
                               sizeof reason, &err) != SEQB_OK) {
        reply_failure(&session->out, &err);
        return COMMAND_DONE;
    }
    daemon_warn(session->daemon, warning);
    reply_map(&session->out, 3, session->is_resp3);
    reply_field_string(&session->out, "health", seqb_health_name(health));
    reply_field_string(&session->out, "reason", reason);
    reply_field_string(&session->out, "warning", warning);
    return COMMAND_DONE;
}

enum command_outcome command_drain(struct session *session,
                                   const struct resp_request *request)
{
    (void)request;
    if (!session->is_drain && !daemon_drain(session->daemon, session->fd)) {
        reply_error(&session->out, "ERR",
                    "the broker cannot say when it has stopped: %d clients "
                    "wait for that, or no descriptor is left; nothing was "
                    "changed, SIGTERM stops it",
                    DAEMON_DRAINS_MAX);
        return COMMAND_DONE;
    }
    session_audit(session, audit_order_for_good,
                  &(struct audit_entry){.command = "SEQ.DRAIN",
                                        .before = "serving",
                                        .after = "stopping"});
    reply_simple(&session->out, "OK");
    session->is_drain = true;
    return COMMAND_DONE;
}

static void advance_refuse(struct session *session, struct resp_slice key,
                           const char *reason)
{
    char target[SEQB_KEY_MAX + 1];

    key.length = (size_t)word_shown(key);
    if (!word_copy(key, target, sizeof target))
        target[0] = '\0';
    session_audit(session, audit_order_refused,
                  &(struct audit_entry){.command = "SEQ.ADVANCE",
                                        .target = target,
                                        .reason = reason});
}

static enum command_outcome advance_begin(struct session *session,
                                          const struct resp_request *request)
{
    struct blocking_call_order order = {.kind = BLOCKING_CALL_ADVANCE};
    const struct waitlist *waitlist;
    struct seqb_error err;
    long long to;

    order.is_forced = request->argc == 4 && word_is(request->argv[3], "FORCE");
    if (request->argc > 3 && !order.is_forced) {
        reply_error(&session->out, "ERR",
                    "syntax error, use SEQ.ADVANCE key number [FORCE]");
        return COMMAND_DONE;
    }
    if (!session_integer(session, request->argv[2], &to))
        return COMMAND_DONE;
    waitlist = session_waitlist(session, request->argv[1], &err);
    if (waitlist == NULL) {
        advance_refuse(session, request->argv[1], err.text);
        return COMMAND_DONE;
    }
    order.to = to;
    memcpy(order.key, waitlist->key, waitlist->key_length + 1);
    return blocking_call_start(session, &order) ? COMMAND_WAITS : COMMAND_DONE;
}

/* Called again when the blocking call is done. */
enum command_outcome command_advance(struct session *session,
                                     const struct resp_request *request)
{
    struct seqb_error err;

    if (session->blocking_call == NULL)
        return advance_begin(session, request);
    err = session->blocking_call->err;
    blocking_call_end(session);
    if (err.status == SEQB_OK)
        reply_simple(&session->out, "OK");
    else
        reply_failure(&session->out, &err);
    return COMMAND_DONE;
}
