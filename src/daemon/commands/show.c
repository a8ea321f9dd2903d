/* SPDX-License-Identifier: Apache-2.0 */
/* SEQ.SHOW: the configuration, the connections, the kept lines of the log, the
 * errors of each partition, the limits, and the counters. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seqbroker/admin.h>

#include "daemon/commands/commands.h"
#include "daemon/daemon.h"
#include "daemon/log/log.h"
#include "daemon/reloader/reloader.h"
#include "daemon/session.h"
#include "status/status.h"

/* Settings in one answer, at most. */
#define SETTINGS_LISTED_MAX 10000

/* What the paths of the settings of a listed sequence begin with. */
#define SEQUENCES_PATH "sequences."

/* Users and keys in one answer, at most. */
#define LIMITS_LISTED_MAX 1000

#define SHOW_LONG  524288
#define SHOW_SHORT 4096

/* --- lines of the log --- */

/* Copies of the log's lines, so that the log's lock is not held while the
 * answer is written. */
struct lines {
    struct log_entry *entries; /* LOG_KEPT of them; NULL: memory is short */
    size_t count;
};

/* Leaves the line out if memory is short. */
static void lines_add(void *context, const struct log_entry *entry)
{
    struct lines *lines = context;
    struct log_entry *copy = &lines->entries[lines->count];

    *copy = *entry;
    copy->line = strdup(entry->line);
    if (copy->line != NULL)
        lines->count++;
}

static void lines_init(struct lines *lines)
{
    *lines = (struct lines){calloc(LOG_KEPT, sizeof *lines->entries), 0};
    if (lines->entries != NULL)
        log_visit(lines_add, lines);
}

static void lines_fini(struct lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        free(lines->entries[i].line);
    free(lines->entries);
}

static void show_events(struct session *session,
                        const struct resp_request *request)
{
    struct lines lines;

    (void)request;
    lines_init(&lines);
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
    }
    lines_fini(&lines);
}

/* The last line of level warn or error about the partition, or NULL. The
 * library names a partition in this form in each line. */
static const struct log_entry *
lines_last(const struct lines *lines,
           const struct seqb_partition_status *partition)
{
    char place[128];

    snprintf(place, sizeof place, " pool=%s partition=%d backend=%s ",
             partition->pool, (int)partition->partition, partition->backend);
    for (size_t i = lines->count; i-- > 0;) {
        if (lines->entries[i].level <= SEQB_LOG_WARN &&
            strstr(lines->entries[i].line, place) != NULL)
            return &lines->entries[i];
    }
    return NULL;
}

/* The log has only the first of several failures in a row, so the present
 * reason is shown, too. */
static void reply_errors(struct session *session,
                         const struct status_partition *status,
                         const struct log_entry *last)
{
    const struct seqb_partition_status *partition = &status->known;
    const struct status_errors errors = {
        .pool = partition->pool,
        .partition = partition->partition,
        .backend = partition->backend,
        .state = seqb_partition_state_name(partition->state),
        .errors = partition->errors,
        .slow = partition->slow,
        .ejections = partition->ejections,
        .last_ms = last != NULL ? last->time_ms : 0,
        .last = last != NULL ? last->line : "",
        .reason = status->reason,
    };

    reply_fields(session, STATUS_OF_ERRORS, &errors, 0);
}

static void show_errors(struct session *session,
                        const struct resp_request *request)
{
    size_t count;
    struct status_partition *partitions =
        status_copy(session->daemon->broker, STATUS_OF_PARTITIONS, &count);
    struct lines lines;

    (void)request;
    lines_init(&lines);
    reply_array(&session->out, count);
    for (size_t i = 0; i < count; i++)
        reply_errors(session, &partitions[i],
                     lines_last(&lines, &partitions[i].known));
    lines_fini(&lines);
    free(partitions);
}

/* --- clients --- */

static bool client_add(struct session *session, const struct session *client,
                       const void *context)
{
    struct client_texts texts;
    struct status_client status;

    (void)context;
    client_describe(client, &texts, &status);
    write_fields(&session->listing->text, session->is_resp3, STATUS_OF_CLIENTS,
                 &status, 0);
    return true;
}

static enum command_outcome show_clients(struct session *session)
{
    const struct listing *listing = NULL;

    if (session->listing == NULL &&
        !client_walk_begin(session, false, CLIENTS_LISTED_MAX))
        return COMMAND_DONE;
    if (client_walk_run(session, client_add, NULL) == COMMAND_YIELDS)
        return COMMAND_YIELDS;
    listing = session->listing;
    reply_array(&session->out, listing->at);
    buffer_append(&session->out, buffer_content(&listing->text),
                  listing->text.length);
    listing_end(session);
    return COMMAND_DONE;
}

/* --- limits --- */

void limit_read(const struct quota *quota, struct status_limit *out)
{
    const struct quota_limits *limits = &quota->limits;

    *out = (struct status_limit){
        .kind = quota->is_key ? "key" : "user",
        .name = quota->name,
        .taken = quota->taken,
        .today = quota->today,
        .daily_limit = limits->daily_limit,
        .rate = limits->rate,
        .burst = quota_burst(limits),
        .max_count = limits->max_count,
        .connections = quota->connections,
        .max_connections = limits->max_connections,
        .refused = quota->refused,
    };
}

/* Users, and limited keys that were asked for; the most recently refused keys
 * come first. */
static void show_limits(struct session *session,
                        const struct resp_request *request)
{
    const struct quota_list *list = &session->daemon->access.quotas.list;
    const struct quota *quota = NULL;
    size_t count = 0;

    (void)request;
    TAILQ_FOREACH(quota, list, entry)
    if (++count == LIMITS_LISTED_MAX)
        break;
    reply_array(&session->out, count);
    quota = TAILQ_FIRST(list);
    for (size_t i = 0; i < count; i++, quota = TAILQ_NEXT(quota, entry)) {
        struct status_limit status;

        limit_read(quota, &status);
        reply_fields(session, STATUS_OF_LIMITS, &status, 0);
    }
}

/* --- counts --- */

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

void stats_read(const struct daemon *daemon, struct status_stats *out)
{
    const struct limits *limits = &daemon->limits;

    *out = (struct status_stats){
        .uptime_ms = daemon_now_ms() - daemon->started_ms,
        .pid = getpid(),
        .memory = memory_read(),
        .connections = daemon->session_count,
        .connections_received = daemon->connections_received,
        .commands = daemon->commands_processed,
        .command_errors = errors_sum(&daemon->counts),
        .http_responses = responses_sum(&daemon->counts),
        .log_lines = (int64_t)log_line_count(),
        .http_connections = limits->http_connections,
        .max_connections = limits->options.max_connections,
        .connections_refused = limits->connections_refused,
        .connections_timed_out = limits->connections_timed_out,
        .client_memory = limits->client_memory,
        .max_client_memory = limits->options.max_client_memory,
        .answers_refused = limits->answers_refused,
        .logins_refused = daemon->access.audit.logins_refused,
        .takes_refused = daemon->access.quotas.refused,
        .tls_handshakes = daemon->counts.tls_handshakes,
        .tls_failed = daemon->counts.tls_failed,
    };
}

static void show_stats(struct session *session,
                       const struct resp_request *request)
{
    struct status_stats stats;

    (void)request;
    stats_read(session->daemon, &stats);
    reply_fields(session, STATUS_OF_STATS, &stats, 0);
}

/* --- what it runs with --- */

static bool setting_is_skipped(const struct listing *listing, const char *path)
{
    return listing->pattern[0] == '\0' &&
           strncmp(path, SEQUENCES_PATH, strlen(SEQUENCES_PATH)) == 0;
}

/* The pattern may be a part of the path, or a glob of all of it. Without one,
 * the settings of sequences are skipped, since there may be very many. */
static bool setting_matches(const struct listing *listing, const char *path)
{
    if (listing->pattern[0] == '\0')
        return !setting_is_skipped(listing, path);
    return strstr(path, listing->pattern) != NULL ||
           fnmatch(listing->pattern, path, 0) == 0;
}

static void setting_count(void *context,
                          const struct seqb_setting_value *setting)
{
    struct listing *listing = context;

    listing->left += setting_matches(listing, setting->path);
    listing->skipped += setting_is_skipped(listing, setting->path);
}

/* A reload may have added settings since they were counted: no more than the
 * counted number are written. */
static void setting_write(void *context,
                          const struct seqb_setting_value *setting)
{
    struct session *session = context;
    struct seqb_setting_value shown = *setting;
    const struct daemon_place *place =
        daemon_find_place(session->daemon, setting->path);

    if (session->listing->left == 0 ||
        !setting_matches(session->listing, setting->path))
        return;
    if (place != NULL && place->decider != NULL)
        shown.value = place_in_use(place);
    reply_fields(session, STATUS_OF_SETTINGS, &shown, 0);
    session->listing->left--;
}

/* False if the turn is over before all are counted. */
static bool settings_count(struct session *session)
{
    struct listing *listing = session->listing;

    while (!listing->is_counted) {
        struct seqb_settings_part group = {.first = listing->at, .count = 1};

        if (!listing_may_go_on(session))
            return false;
        listing->is_counted =
            seqb_visit_settings_part(session->daemon->broker, &group,
                                     setting_count, listing, NULL) != SEQB_OK ||
            group.is_last;
        listing_row(session);
    }
    return true;
}

/* Writes what precedes the settings. */
static void reply_config(struct session *session)
{
    const struct log_options log = log_options_now();
    struct status_config config = session->daemon->config;
    struct listing *listing = session->listing;
    const size_t found = listing->left;

    if (listing->left > SETTINGS_LISTED_MAX)
        listing->left = SETTINGS_LISTED_MAX;
    if (reloader_read_ms(session->daemon->reloader) > 0)
        config.read_ms = reloader_read_ms(session->daemon->reloader);
    config.log_level = log_level_name(log.level);
    config.log_format = log_format_name(log.format);
    config.settings_left_out = (int64_t)(found - listing->left);
    config.sequences_left_out = (int64_t)listing->skipped;
    reply_fields(session, STATUS_OF_CONFIG, &config, 1);
    reply_string(&session->out, status_tables[STATUS_OF_SETTINGS].name);
    reply_array(&session->out, listing->left);
}

static void settings_write(struct session *session, size_t at)
{
    struct seqb_settings_part group = {.first = at, .count = 1};

    (void)!seqb_visit_settings_part(session->daemon->broker, &group,
                                    setting_write, session, NULL);
}

/* A reload may have removed settings since they were counted: fills up with
 * empty maps. */
static void settings_end(struct session *session)
{
    for (; session->listing->left > 0; session->listing->left--)
        reply_map(&session->out, 0, session->is_resp3);
}

static bool config_begin(struct session *session,
                         const struct resp_request *request)
{
    char pattern[LISTING_PATTERN_SIZE] = "";

    if (request->argc > 2 &&
        !word_copy(request->argv[2], pattern, sizeof pattern)) {
        reply_error(&session->out, "ERR", "the pattern is too long");
        return false;
    }
    if (!session_may_hold(session, 0, true) || !listing_begin(session, 0, true))
        return false;
    memcpy(session->listing->pattern, pattern, sizeof pattern);
    return true;
}

/* Writes group by group: all settings of many sequences at once would block the
 * loop too long. */
static enum command_outcome show_config(struct session *session,
                                        const struct resp_request *request)
{
    static const struct listing_rows rows = {settings_write, settings_end};

    if (session->listing == NULL && !config_begin(session, request))
        return COMMAND_DONE;
    if (!settings_count(session))
        return COMMAND_YIELDS;
    if (session->listing->count == 0) {
        reply_config(session);
        session->listing->count = session->listing->at;
        session->listing->at = 0;
    }
    return listing_run(session, &rows);
}

static const struct {
    const char *word;
    size_t size; /* approximate bytes of the answer, if it is long */
    void (*show)(struct session *session, const struct resp_request *request);
} shows[] = {
    {"EVENTS", SHOW_LONG, show_events},
    {"ERRORS", SHOW_SHORT, show_errors},
    {"LIMITS", SHOW_LONG, show_limits},
    {"STATS", SHOW_SHORT, show_stats},
};

enum command_outcome command_show(struct session *session,
                                  const struct resp_request *request)
{
    if (word_is(request->argv[1], "CONFIG") && request->argc <= 3)
        return show_config(session, request);
    if (word_is(request->argv[1], "CLIENTS") && request->argc == 2)
        return show_clients(session);
    for (size_t i = 0; i < sizeof shows / sizeof shows[0]; i++) {
        if (word_is(request->argv[1], shows[i].word) && request->argc == 2) {
            if (session_may_hold(session, shows[i].size, true))
                shows[i].show(session, request);
            session->budget = 0; /* nothing else in this turn */
            return COMMAND_DONE;
        }
    }
    reply_error(&session->out, "ERR",
                "use SEQ.SHOW CONFIG [pattern], CLIENTS, EVENTS, "
                "ERRORS, LIMITS or STATS");
    return COMMAND_DONE;
}
