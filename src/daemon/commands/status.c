/* SPDX-License-Identifier: Apache-2.0 */
/* How the broker and this server are: SEQ.STATUS and SEQ.WORKERS for seqctl,
 * INFO for people and for the client libraries that read it when they connect.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seqbroker/admin.h>

#include "daemon/commands/commands.h"
#include "daemon/daemon.h"
#include "daemon/errand.h"
#include "daemon/session.h"

/* What INFO calls itself for clients that compare versions of Redis. */
#define REDIS_VERSION "7.0.0"

/* One of the broker's lists. */
struct list {
    const char *name;
    size_t size; /* of an element */
    enum seqb_status (*read)(struct seqb_broker *broker, void *out, size_t size,
                             size_t capacity, size_t *count);
    void (*reply)(struct buffer *out, const void *element, bool is_resp3);
};

/* Sequences may appear between the call that counts and the one that copies:
 * those are left out. NULL if there are none or memory is short. */
static void *list_copy(struct seqb_broker *broker, const struct list *list,
                       size_t *count)
{
    size_t room = 0;
    void *all;

    *count = 0;
    if (list->read(broker, NULL, list->size, 0, &room) != SEQB_OK || room == 0)
        return NULL;
    all = calloc(room, list->size);
    if (all == NULL)
        return NULL;
    if (list->read(broker, all, list->size, room, count) != SEQB_OK)
        *count = 0;
    if (*count > room)
        *count = room;
    return all;
}

static void reply_list(struct session *session, const struct list *list)
{
    size_t count = 0;
    char *all = list_copy(session->daemon->broker, list, &count);

    reply_string(&session->out, list->name);
    reply_array(&session->out, count);
    for (size_t i = 0; i < count; i++)
        list->reply(&session->out, all + i * list->size, session->is_resp3);
    free(all);
}

/* --- partitions --- */

static enum seqb_status partitions_read(struct seqb_broker *broker, void *out,
                                        size_t size, size_t capacity,
                                        size_t *count)
{
    return seqb_partitions(broker, out, size, capacity, count, NULL);
}

static const char *class_of(const struct seqb_partition_status *partition)
{
    return partition->is_windowed ? "windowed" : "direct";
}

static void reply_partition(struct buffer *out, const void *element,
                            bool is_resp3)
{
    const struct seqb_partition_status *partition = element;
    const bool is_clock_known = partition->clock_ms != INT64_MIN;

    reply_map(out, 19 + (size_t)is_clock_known, is_resp3);
    reply_field_string(out, "pool", partition->pool);
    reply_field_integer(out, "partition", partition->partition);
    reply_field_string(out, "backend", partition->backend);
    reply_field_string(out, "engine", partition->engine);
    reply_field_string(out, "server", partition->server);
    reply_field_string(out, "domain", partition->domain);
    reply_field_string(out, "loss", partition->loss);
    reply_field_string(out, "class", class_of(partition));
    reply_field_integer(out, "authority", partition->is_authority);
    reply_field_string(out, "state",
                       seqb_partition_state_name(partition->state));
    reply_field_string(out, "reason", partition->reason);
    reply_field_integer(out, "since_ms", partition->since_ms);
    reply_field_integer(out, "next_probe_ms", partition->next_probe_ms);
    reply_field_integer(out, "latency_us", partition->latency_us);
    reply_field_integer(out, "granted", partition->granted);
    reply_field_integer(out, "errors", partition->errors);
    reply_field_integer(out, "slow", partition->slow);
    reply_field_integer(out, "ejections", partition->ejections);
    reply_field_integer(out, "refused", partition->refused);
    if (is_clock_known)
        reply_field_integer(out, "clock_ms", partition->clock_ms);
}

static const struct list partitions = {"partitions",
                                       sizeof(struct seqb_partition_status),
                                       partitions_read, reply_partition};

struct seqb_partition_status *partitions_copy(struct seqb_broker *broker,
                                              size_t *count)
{
    return list_copy(broker, &partitions, count);
}

/* --- sequences --- */

static enum seqb_status sequences_read(struct seqb_broker *broker, void *out,
                                       size_t size, size_t capacity,
                                       size_t *count)
{
    return seqb_sequences(broker, out, size, capacity, count, NULL);
}

/* As next_probe_ms: -1 for never, which every client can hold. */
static int64_t span_ms(int64_t ms)
{
    return ms == INT64_MAX ? -1 : ms;
}

static void reply_sequence(struct buffer *out, const void *element,
                           bool is_resp3)
{
    const struct seqb_sequence_status *sequence = element;
    const bool has_period = strcmp(sequence->period, "none") != 0;
    const bool has_stamp = has_period && sequence->stamp.digits != 0;
    const bool has_width = sequence->width_numbers != INT64_MAX;

    reply_map(out,
              15 + 2 * (size_t)has_period + (size_t)has_stamp +
                  2 * (size_t)has_width,
              is_resp3);
    reply_field_string(out, "key", sequence->key);
    reply_field_string(out, "pool", sequence->pool);
    reply_field_integer(out, "memory_bits", sequence->memory_bits);
    reply_field_integer(out, "window_bits", sequence->window_bits);
    reply_field_integer(out, "stock", sequence->stock);
    reply_field_integer(out, "in_flight", sequence->in_flight);
    reply_field_integer(out, "taken", sequence->taken);
    reply_field_integer(out, "rate", sequence->rate);
    reply_field_integer(out, "runway_ms", span_ms(sequence->runway_ms));
    reply_field_integer(out, "waits", sequence->waits);
    reply_field_integer(out, "low_water", sequence->low_water);
    reply_field_integer(out, "target", sequence->target);
    reply_field_integer(out, "asked", sequence->asked);
    reply_field_string(out, "why", sequence->why);
    reply_field_integer(out, "runs_out_ms", span_ms(sequence->runs_out_ms));
    if (has_width) {
        reply_field_integer(out, "width_numbers", sequence->width_numbers);
        reply_field_integer(out, "pool_numbers", sequence->pool_numbers);
    }
    if (has_stamp)
        reply_field_integer(out, "stamp", sequence->stamp.digits);
    if (!has_period)
        return;
    reply_field_string(out, "period", sequence->period);
    reply_field_integer(out, "dropped", sequence->dropped);
}

static const struct list sequences = {"sequences",
                                      sizeof(struct seqb_sequence_status),
                                      sequences_read, reply_sequence};

/* --- lessors --- */

static enum seqb_status lessors_read(struct seqb_broker *broker, void *out,
                                     size_t size, size_t capacity,
                                     size_t *count)
{
    return seqb_lessors(broker, out, size, capacity, count, NULL);
}

static void reply_lessor(struct buffer *out, const void *element, bool is_resp3)
{
    const struct seqb_lessor *lessor = element;
    const bool waits = lessor->waits_for[0] != '\0';

    reply_map(out, 6 + (size_t)waits, is_resp3);
    reply_field_string(out, "pool", lessor->pool);
    reply_field_integer(out, "partition", lessor->partition);
    reply_field_string(out, "backend", lessor->backend);
    reply_field_string(out, "state", lessor->state);
    if (waits)
        reply_field_string(out, "waits_for", lessor->waits_for);
    reply_field_integer(out, "since_ms", lessor->since_ms);
    reply_field_integer(out, "leases_per_minute", lessor->leases_per_minute);
}

static const struct list lessors = {"lessors", sizeof(struct seqb_lessor),
                                    lessors_read, reply_lessor};

/* --- the whole --- */

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

static void reply_clock(struct buffer *out,
                        const struct seqb_clock_status *clock, bool is_resp3)
{
    reply_string(out, "clock");
    reply_map(out, 7, is_resp3);
    reply_field_integer(out, "wall_ms", clock->wall_ms);
    reply_field_integer(out, "guarded_ms", clock->guarded_ms);
    reply_field_integer(out, "behind_ms", clock->behind_ms);
    reply_field_integer(out, "ahead_ms", clock->ahead_ms);
    reply_field_integer(out, "issued_ms", clock->issued_ms);
    reply_field_integer(out, "steps_back", clock->steps_back);
    reply_field_string(out, "reason", clock->reason);
}

enum command_outcome command_status(struct session *session,
                                    const struct resp_request *request)
{
    const struct daemon *daemon = session->daemon;
    struct buffer *out = &session->out;
    struct seqb_clock_status clock = {.is_used = false};

    (void)request;
    if (seqb_clock(daemon->broker, &clock, sizeof clock, NULL) != SEQB_OK)
        clock.is_used = false;
    reply_map(out, 9 + (size_t)clock.is_used, session->is_resp3);
    reply_field_string(out, "broker", seqb_broker_name(daemon->broker));
    reply_field_string(out, "version", SEQB_VERSION);
    reply_field_integer(out, "uptime_ms", daemon_now_ms() - daemon->started_ms);
    reply_field_integer(out, "pid", getpid());
    reply_field_string(out, "state_dir", daemon->state_dir);
    reply_libraries(out);
    reply_list(session, &partitions);
    reply_list(session, &lessors);
    reply_list(session, &sequences);
    if (clock.is_used)
        reply_clock(out, &clock, session->is_resp3);
    return COMMAND_DONE;
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
    buffer_format(text, "# Clients\r\nconnected_clients:%lld\r\n",
                  (long long)daemon->session_count);
}

static void info_stats(const struct daemon *daemon, struct buffer *text)
{
    buffer_format(text,
                  "# Stats\r\n"
                  "total_connections_received:%lld\r\n"
                  "total_commands_processed:%lld\r\n",
                  (long long)daemon->connections_received,
                  (long long)daemon->commands_processed);
}

static void info_sequences(const struct daemon *daemon, struct buffer *text)
{
    size_t count = 0;
    struct seqb_sequence_status *all =
        list_copy(daemon->broker, &sequences, &count);

    buffer_format(text, "# Sequences\r\n");
    for (size_t i = 0; i < count; i++)
        buffer_format(text,
                      "%s:pool=%s,stock=%lld,taken=%lld,rate=%lld,"
                      "waits=%lld\r\n",
                      all[i].key, all[i].pool, (long long)all[i].stock,
                      (long long)all[i].taken, (long long)all[i].rate,
                      (long long)all[i].waits);
    free(all);
}

static const struct {
    const char *name;
    void (*write)(const struct daemon *daemon, struct buffer *text);
    const char *text; /* of one that never changes */
} sections[] = {
    {"server", info_server, NULL},
    {"clients", info_clients, NULL},
    /* ioredis waits for this line before it says that it is ready. */
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
    return COMMAND_DONE;
}

/* --- worker ids: the stores are asked on an errand's thread --- */

static const char *worker_state(const struct seqb_worker *worker)
{
    if (worker->is_ours)
        return "ours";
    return worker->is_free ? "free" : "held";
}

static void reply_worker(struct buffer *out, const struct seqb_worker *worker,
                         bool is_resp3)
{
    reply_map(out, 6, is_resp3);
    reply_field_string(out, "pool", worker->pool);
    reply_field_integer(out, "worker", worker->worker);
    reply_field_string(out, "state", worker_state(worker));
    reply_field_string(out, "holder", worker->holder);
    reply_field_integer(out, "renewed_ms", worker->renewed_ms);
    reply_field_integer(out, "used_upto_ms", worker->used_upto_ms);
}

static void reply_workers(struct session *session, const struct errand *errand)
{
    reply_array(&session->out, errand->worker_count);
    for (size_t i = 0; i < errand->worker_count; i++)
        reply_worker(&session->out, &errand->workers[i], session->is_resp3);
}

/* Called again when the errand is done. */
enum command_outcome command_workers(struct session *session,
                                     const struct resp_request *request)
{
    static const struct errand_order order = {.kind = ERRAND_WORKERS};

    (void)request;
    if (session->errand == NULL)
        return errand_start(session, &order) ? COMMAND_WAITS : COMMAND_DONE;
    if (session->errand->err.status == SEQB_OK)
        reply_workers(session, session->errand);
    else
        reply_failure(&session->out, &session->errand->err);
    errand_end(session->daemon);
    return COMMAND_DONE;
}
