/* SPDX-License-Identifier: Apache-2.0 */
/* SEQ.SHOW: what the daemon runs with, who is connected, the lines that its log
 * kept, and what it counted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/commands/commands.h"
#include "daemon/daemon.h"
#include "daemon/log/log.h"
#include "daemon/session.h"
#include "status/status.h"

/* --- lines of the log --- */

/* Copies, since the log's lock is not to be held while the answer is written.
 */
struct lines {
    struct log_entry *entries; /* LOG_KEPT; NULL: memory is short */
    size_t count;
};

/* A line that there is no memory for is left out. */
static void lines_add(void *context, const struct log_entry *entry)
{
    struct lines *lines = context;
    struct log_entry *copy = &lines->entries[lines->count];

    *copy = *entry;
    copy->line = strdup(entry->line);
    if (copy->line != NULL)
        lines->count++;
}

static void show_events(struct session *session)
{
    struct lines lines = {calloc(LOG_KEPT, sizeof *lines.entries), 0};

    if (lines.entries != NULL)
        log_visit(lines_add, &lines);
    reply_array(&session->out, lines.count);
    for (size_t i = 0; i < lines.count; i++) {
        const struct log_entry *entry = &lines.entries[i];
        const struct status_event event = {
            .number = (int64_t)entry->number,
            .time_ms = entry->time_ms,
            .level = log_level_name(entry->level),
            .line = entry->line,
        };

        reply_fields(session, STATUS_OF_EVENTS, &event, 0);
        free(entry->line);
    }
    free(lines.entries);
}

/* --- the rest --- */

static void show_clients(struct session *session)
{
    const struct daemon *daemon = session->daemon;
    const int64_t count = daemon->session_count;
    const struct session *at = client_list_begin(daemon);

    reply_array(
        &session->out,
        (size_t)(count < CLIENTS_LISTED_MAX ? count : CLIENTS_LISTED_MAX));
    for (; at != NULL; at = TAILQ_NEXT(at, entry)) {
        struct client_texts texts;
        struct status_client client;

        client_describe(at, &texts, &client);
        reply_fields(session, STATUS_OF_CLIENTS, &client, 0);
    }
}

/* Resident memory of this process in bytes; 0: not known. */
static int64_t memory_read(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    long long pages = 0;

    if (file == NULL)
        return 0;
    if (fscanf(file, "%*s %lld", &pages) != 1)
        pages = 0;
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static int64_t errors_sum(const struct counts *counts)
{
    int64_t sum = 0;

    for (size_t i = 0; i < COUNTS_ERRORS; i++)
        sum += counts->errors[i].count;
    return sum;
}

static int64_t responses_sum(const struct counts *counts)
{
    int64_t sum = 0;

    for (size_t i = 0; i < COUNTS_CLASSES; i++)
        sum += counts->responses[i];
    return sum;
}

static void show_stats(struct session *session)
{
    const struct daemon *daemon = session->daemon;
    const struct status_stats stats = {
        .uptime_ms = daemon_now_ms() - daemon->started_ms,
        .pid = getpid(),
        .memory = memory_read(),
        .connections = daemon->session_count,
        .connections_received = daemon->connections_received,
        .commands = daemon->commands_processed,
        .command_errors = errors_sum(&daemon->counts),
        .http_responses = responses_sum(&daemon->counts),
        .log_lines = (int64_t)log_line_count(),
    };

    reply_fields(session, STATUS_OF_STATS, &stats, 0);
}

static void show_config(struct session *session)
{
    const struct log_options log = log_options_now();
    struct status_config config = session->daemon->config;

    config.log_level = log_level_name(log.level);
    config.log_format = log_format_name(log.format);
    reply_fields(session, STATUS_OF_CONFIG, &config, 0);
}

static const struct {
    const char *word;
    void (*show)(struct session *session);
} shows[] = {
    {"CONFIG", show_config},
    {"CLIENTS", show_clients},
    {"EVENTS", show_events},
    {"STATS", show_stats},
};

enum command_outcome command_show(struct session *session,
                                  const struct resp_request *request)
{
    for (size_t i = 0; i < sizeof shows / sizeof shows[0]; i++) {
        if (word_is(request->argv[1], shows[i].word)) {
            shows[i].show(session);
            return COMMAND_DONE;
        }
    }
    reply_error(&session->out, "ERR",
                "use SEQ.SHOW CONFIG, CLIENTS, EVENTS or STATS");
    return COMMAND_DONE;
}
