/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the broker and of this server: SEQ.STATUS and SEQ.WORKERS for
 * seqctl, INFO for people and for client libraries that read it when they
 * connect. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seqbroker/admin.h>
#include <seqbroker/counts.h>

#include "daemon/blocking_call.h"
#include "daemon/commands/commands.h"
#include "daemon/daemon.h"
#include "daemon/session.h"
#include "status/status.h"

/* The version that INFO reports, for clients that compare versions of Redis. */
#define REDIS_VERSION "7.0.0"

/* INFO lists only the first sequences, because the loop is blocked meanwhile.
 * SEQ.STATUS lists all. */
#define INFO_SEQUENCES 200

/* What it costs of the session's turn: four of them are a turn. */
#define INFO_COST 1024

/* Approximate upper bounds, in bytes, of an INFO and of a list of worker
 * ids. */
#define INFO_SIZE    65536
#define WORKERS_SIZE 262144

/* One of the broker's lists. */
struct list {
    enum status_of of;
    size_t size; /* of an element */
    enum seqb_status (*read)(struct seqb_broker *broker, void *out, size_t size,
                             size_t capacity, size_t *count);
};

static void reply_field(struct buffer *out, const struct status_field *field,
                        const void *status)
{
    if (status_is_text(field))
        reply_field_string(out, field->name, status_text(field, status));
    else
        reply_field_integer(out, field->name, status_integer(field, status));
}

void write_fields(struct buffer *out, bool is_resp3, enum status_of of,
                  const void *status, size_t more)
{
    const struct status_field *field = status_tables[of].fields;

    reply_map(out, status_count(field, status) + more, is_resp3);
    for (; field->name != NULL; field++) {
        if (status_is_present(field, status))
            reply_field(out, field, status);
    }
}

void reply_fields(struct session *session, enum status_of of,
                  const void *status, size_t more)
{
    write_fields(&session->out, session->is_resp3, of, status, more);
}

/* Sequences that appear between the call that counts and the call that copies
 * are left out. NULL if memory is short, but not if there are none. */
static void *list_copy(struct seqb_broker *broker, const struct list *list,
                       size_t *count)
{
    size_t room = 0;
    void *all;

    *count = 0;
    if (list->read(broker, NULL, list->size, 0, &room) != SEQB_OK)
        return NULL;
    all = calloc(room > 0 ? room : 1, list->size);
    if (all == NULL || room == 0)
        return all;
    if (list->read(broker, all, list->size, room, count) != SEQB_OK) {
        *count = 0;
        free(all);
        return NULL;
    }
    if (*count > room)
        *count = room;
    return all;
}

/* Without memory the connection is closed: an empty list would not be true. */
static void reply_list(struct session *session, const struct list *list)
{
    size_t count = 0;
    char *all = list_copy(session->daemon->broker, list, &count);

    session->out.is_broken |= all == NULL;
    reply_string(&session->out, status_tables[list->of].name);
    reply_array(&session->out, count);
    for (size_t i = 0; i < count; i++)
        reply_fields(session, list->of, all + i * list->size, 0);
    free(all);
}

/* The library's struct has only the begin of the reason; another call reads the
 * whole text. If the reason has changed meanwhile, the begin is kept, because
 * it belongs to the state. */
static void partition_set(struct seqb_broker *broker,
                          struct status_partition *to,
                          const struct seqb_partition_status *known)
{
    to->known = *known;
    if (seqb_partition_reason(broker, known->pool, known->partition, to->reason,
                              sizeof to->reason, NULL) != SEQB_OK ||
        strncmp(to->reason, known->reason, strlen(known->reason)) != 0)
        snprintf(to->reason, sizeof to->reason, "%s", known->reason);
}

static enum seqb_status partitions_read(struct seqb_broker *broker, void *out,
                                        size_t size, size_t capacity,
                                        size_t *count)
{
    struct status_partition *to = out;
    struct seqb_partition_status *all = NULL;
    const size_t one = sizeof *all;
    enum seqb_status status;

    (void)size;
    if (capacity > 0 && (all = calloc(capacity, one)) == NULL)
        return SEQB_NO_MEMORY;
    status = seqb_partitions(broker, all, one, capacity, count, NULL);
    for (size_t i = 0; status == SEQB_OK && i < *count && i < capacity; i++)
        partition_set(broker, &to[i], &all[i]);
    free(all);
    return status;
}

static const struct list partitions = {
    STATUS_OF_PARTITIONS, sizeof(struct status_partition), partitions_read};

static enum seqb_status lessors_read(struct seqb_broker *broker, void *out,
                                     size_t size, size_t capacity,
                                     size_t *count)
{
    return seqb_lessors(broker, out, size, capacity, count, NULL);
}

static const struct list lessors = {STATUS_OF_LESSORS,
                                    sizeof(struct seqb_lessor), lessors_read};

static enum seqb_status sequences_read(struct seqb_broker *broker, void *out,
                                       size_t size, size_t capacity,
                                       size_t *count)
{
    return seqb_sequences(broker, out, size, capacity, count, NULL);
}

static const struct list sequences = {
    STATUS_OF_SEQUENCES, sizeof(struct seqb_sequence_status), sequences_read};

void *status_copy(struct seqb_broker *broker, enum status_of of, size_t *count)
{
    if (of == STATUS_OF_PARTITIONS)
        return list_copy(broker, &partitions, count);
    return list_copy(broker, of == STATUS_OF_LESSORS ? &lessors : &sequences,
                     count);
}

/* --- SEQ.STATUS --- */

static void reply_libraries(struct buffer *out)
{
    size_t count = 0;

    while (seqb_library(count) != NULL)
        count++;
    reply_string(out, "libraries");
    reply_array(out, count);
    for (size_t i = 0; i < count; i++)
        reply_string(out, seqb_library(i));
}

static size_t sequences_count(struct seqb_broker *broker)
{
    size_t count = 0;

    if (sequences_read(broker, NULL, sizeof(struct seqb_sequence_status), 0,
                       &count) != SEQB_OK)
        return 0;
    return count;
}

/* Writes what precedes the sequences. False after answering that clients hold
 * too much memory. */
static bool status_begin(struct session *session)
{
    const struct daemon *daemon = session->daemon;
    struct seqb_clock_status clock = {.is_used = false};
    const struct status_broker broker = {
        .broker = seqb_broker_name(daemon->broker),
        .version = SEQB_VERSION,
        .state_dir = daemon->state_dir,
        .uptime_ms = daemon_now_ms() - daemon->started_ms,
        .pid = getpid(),
    };

    const size_t count = sequences_count(daemon->broker);

    if (seqb_clock(daemon->broker, &clock, sizeof clock, NULL) != SEQB_OK)
        clock.is_used = false;
    if (!session_may_hold(session, SESSION_LONG_ANSWER, true) ||
        !listing_begin(session, count, clock.is_used))
        return false;
    reply_fields(session, STATUS_OF_BROKER, &broker, 4 + (size_t)clock.is_used);
    reply_libraries(&session->out);
    reply_list(session, &partitions);
    reply_list(session, &lessors);
    reply_string(&session->out, status_tables[STATUS_OF_SEQUENCES].name);
    reply_array(&session->out, count);
    return true;
}

/* The next sequence that is not removed, from number `*next` on. False if there
 * is none. */
static bool sequence_next(struct seqb_broker *broker, size_t *next,
                          struct seqb_sequence_status *out)
{
    enum seqb_status found = SEQB_UNKNOWN_KEY;

    while (found == SEQB_UNKNOWN_KEY)
        found = seqb_sequence_at(broker, (*next)++, out, sizeof *out, NULL);
    return found == SEQB_OK;
}

/* Writes an empty map if sequences were removed meanwhile, because the list's
 * length was sent already. */
static void status_sequence(struct session *session, size_t at)
{
    struct listing *listing = session->listing;
    const size_t before = listing->sequence;
    struct seqb_sequence_status status;
    const bool is_there =
        sequence_next(session->daemon->broker, &listing->sequence, &status);

    (void)at;
    session->budget -= (int)(listing->sequence - before);
    if (is_there)
        reply_fields(session, STATUS_OF_SEQUENCES, &status, 0);
    else
        reply_map(&session->out, 0, session->is_resp3);
}

static void status_clock(struct session *session)
{
    struct seqb_clock_status clock = {.is_used = false};

    (void)!seqb_clock(session->daemon->broker, &clock, sizeof clock, NULL);
    reply_string(&session->out, status_tables[STATUS_OF_CLOCK].name);
    reply_fields(session, STATUS_OF_CLOCK, &clock, 0);
}

enum command_outcome command_status(struct session *session,
                                    const struct resp_request *request)
{
    static const struct listing_rows rows = {status_sequence, status_clock};

    (void)request;
    if (session->listing == NULL && !status_begin(session))
        return COMMAND_DONE;
    return listing_run(session, &rows);
}

enum command_outcome command_dbsize(struct session *session,
                                    const struct resp_request *request)
{
    size_t count = 0;
    struct seqb_error err;

    (void)request;
    if (seqb_sequences(session->daemon->broker, NULL,
                       sizeof(struct seqb_sequence_status), 0, &count,
                       &err) == SEQB_OK)
        reply_integer(&session->out, (int64_t)count);
    else
        reply_failure(&session->out, &err);
    return COMMAND_DONE;
}

static void info_server(const struct daemon *daemon, struct buffer *text)
{
    buffer_format(text,
                  "# Server\r\n"
                  "seqbroker_version:" SEQB_VERSION "\r\n"
                  "redis_version:" REDIS_VERSION "\r\n"
                  "redis_mode:standalone\r\n"
                  "broker:%s\r\n"
                  "process_id:%ld\r\n"
                  "tcp_port:%d\r\n"
                  "uptime_in_seconds:%lld\r\n",
                  seqb_broker_name(daemon->broker), (long)getpid(),
                  daemon->tcp_port,
                  (long long)(daemon_now_ms() - daemon->started_ms) / 1000);
}

static void info_clients(const struct daemon *daemon, struct buffer *text)
{
    const struct limits *limits = &daemon->limits;

    buffer_format(text,
                  "# Clients\r\n"
                  "connected_clients:%lld\r\n"
                  "maxclients:%lld\r\n"
                  "client_memory:%lld\r\n"
                  "max_client_memory:%lld\r\n",
                  (long long)daemon->session_count,
                  (long long)limits->options.max_connections,
                  (long long)limits->client_memory,
                  (long long)limits->options.max_client_memory);
}

/* `rejected_connections` is Redis's name of connections_refused. */
static void info_stats(const struct daemon *daemon, struct buffer *text)
{
    buffer_format(text,
                  "# Stats\r\n"
                  "total_connections_received:%lld\r\n"
                  "total_commands_processed:%lld\r\n"
                  "rejected_connections:%lld\r\n"
                  "connections_timed_out:%lld\r\n"
                  "answers_refused:%lld\r\n"
                  "logins_refused:%lld\r\n"
                  "tls_handshakes:%lld\r\n"
                  "tls_failed:%lld\r\n",
                  (long long)daemon->connections_received,
                  (long long)daemon->commands_processed,
                  (long long)daemon->limits.connections_refused,
                  (long long)daemon->limits.connections_timed_out,
                  (long long)daemon->limits.answers_refused,
                  (long long)daemon->access.audit.logins_refused,
                  (long long)daemon->counts.tls_handshakes,
                  (long long)daemon->counts.tls_failed);
}

static void info_sequences(const struct daemon *daemon, struct buffer *text)
{
    struct seqb_sequence_status status;
    size_t next = 0;

    buffer_format(text, "# Sequences\r\n");
    for (int i = 0;
         i < INFO_SEQUENCES && sequence_next(daemon->broker, &next, &status);
         i++)
        buffer_format(text,
                      "%s:pool=%s,stock=%lld,taken=%lld,rate=%lld,"
                      "waits=%lld\r\n",
                      status.key, status.pool, (long long)status.stock,
                      (long long)status.taken, (long long)status.rate,
                      (long long)status.waits);
}

static const struct {
    const char *name;
    void (*write)(const struct daemon *daemon, struct buffer *text);
    const char *text; /* of a section that never changes */
} sections[] = {
    {"server", info_server, NULL},
    {"clients", info_clients, NULL},
    /* ioredis waits for this line before it reports that it is ready. */
    {"persistence", NULL, "# Persistence\r\nloading:0\r\n"},
    {"stats", info_stats, NULL},
    {"replication", NULL,
     "# Replication\r\nrole:master\r\nconnected_slaves:0\r\n"},
    {"sequences", info_sequences, NULL},
};

static bool info_wants(const struct resp_request *request, const char *section)
{
    for (size_t i = 1; i < request->argc; i++) {
        struct resp_slice word = request->argv[i];

        if (word_is(word, section) || word_is(word, "all") ||
            word_is(word, "default") || word_is(word, "everything"))
            return true;
    }
    return request->argc == 1;
}

enum command_outcome command_info(struct session *session,
                                  const struct resp_request *request)
{
    struct buffer text = {0};

    if (!session_may_hold(session, INFO_SIZE, true))
        return COMMAND_DONE;
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        if (!info_wants(request, sections[i].name))
            continue;
        if (text.length > 0)
            buffer_append(&text, "\r\n", 2);
        if (sections[i].text != NULL)
            buffer_format(&text, "%s", sections[i].text);
        else
            sections[i].write(session->daemon, &text);
    }
    reply_bulk(&session->out, buffer_content(&text), text.length);
    buffer_fini(&text);
    session->budget -= INFO_COST;
    return COMMAND_DONE;
}

/* --- worker ids, read by a blocking call --- */

static void reply_workers(struct session *session,
                          const struct blocking_call *blocking_call)
{
    if (blocking_call->err.status != SEQB_OK) {
        reply_failure(&session->out, &blocking_call->err);
        return;
    }
    reply_array(&session->out, blocking_call->worker_count);
    for (size_t i = 0; i < blocking_call->worker_count; i++)
        reply_fields(session, STATUS_OF_WORKERS, &blocking_call->workers[i], 0);
}

/* Called again when the blocking call is done. */
enum command_outcome command_workers(struct session *session,
                                     const struct resp_request *request)
{
    static const struct blocking_call_order order = {.kind =
                                                         BLOCKING_CALL_WORKERS};
    const bool may_hold = session_may_hold(session, WORKERS_SIZE, true);

    (void)request;
    if (session->blocking_call == NULL)
        return may_hold && blocking_call_start(session, &order) ? COMMAND_WAITS
                                                                : COMMAND_DONE;
    if (may_hold)
        reply_workers(session, session->blocking_call);
    blocking_call_end(session);
    return COMMAND_DONE;
}
