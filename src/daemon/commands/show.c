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

#define SHOW_LONG   524288
#define SHOW_MIDDLE 65536
#define SHOW_SHORT  4096

/* --- answers whose rows are collected --- */

/* Begins a listing whose rows need some `size` bytes. False: it is answered. */
static bool rows_begin(struct session *session, size_t size)
{
    if (!session_may_hold(session, size, true) ||
        !listing_begin(session, 0, false))
        return false;
    session->listing->text_size = size;
    session_account(session, 0);
    return true;
}

static void rows_add(struct session *session, enum status_of of,
                     const void *status)
{
    write_fields(&session->listing->text, session->is_resp3, of, status, 0);
    listing_row(session);
}

/* Writes the rows, whose number comes first. */
static enum command_outcome rows_end(struct session *session)
{
    const struct listing *listing = session->listing;

    if (listing->text.is_broken)
        session->out.is_broken = true;
    reply_array(&session->out, listing->at);
    buffer_append(&session->out, buffer_content(&listing->text),
                  listing->text.length);
    listing_end(session);
    return COMMAND_DONE;
}

/* --- lines of the log --- */

/* The lines that are kept when the command comes. Those that are dropped
 * meanwhile are left out. */
static bool events_begin(struct session *session)
{
    uint64_t oldest;

    if (!rows_begin(session, SHOW_LONG))
        return false;
    log_span(&oldest, &session->listing->last_line);
    return true;
}

static enum command_outcome show_events(struct session *session)
{
    struct listing *listing = session->listing;
    struct log_entry entry;

    if (listing == NULL && !events_begin(session))
        return COMMAND_DONE;
    listing = session->listing;
    while (listing->line < listing->last_line) {
        struct status_event event;

        if (session->budget <= 0)
            return COMMAND_YIELDS;
        if (!log_read(&listing->line, SEQB_LOG_DEBUG, &entry)) {
            /* No line is left, or there is no memory for the next one. */
            listing->text.is_broken |= listing->line < listing->last_line;
            break;
        }
        event = (struct status_event){
            .number = (int64_t)entry.number,
            .time_ms = entry.time_ms,
            .level = log_level_name(entry.level),
            .line = entry.line,
        };
        if (entry.number <= listing->last_line)
            rows_add(session, STATUS_OF_EVENTS, &event);
        free(entry.line);
    }
    return rows_end(session);
}

/* The last line of level warn or error about the partition; its text is NULL if
 * there is none. The library names a partition in this form in each line. */
static struct log_entry
line_of_partition(const struct seqb_partition_status *partition)
{
    struct log_entry last = {.line = NULL};
    char place[128];

    snprintf(place, sizeof place, " pool=%s partition=%d backend=%s ",
             partition->pool, (int)partition->partition, partition->backend);
    (void)log_find_last(place, SEQB_LOG_WARN, &last);
    return last;
}

/* The log has only the first of several failures in a row, so the present
 * reason is shown, too. */
static void errors_add(struct session *session,
                       const struct status_partition *status)
{
    const struct seqb_partition_status *partition = &status->known;
    const struct log_entry last = line_of_partition(partition);
    const struct status_errors errors = {
        .pool = partition->pool,
        .partition = partition->partition,
        .backend = partition->backend,
        .state = seqb_partition_state_name(partition->state),
        .errors = partition->errors,
        .slow = partition->slow,
        .ejections = partition->ejections,
        .last_ms = last.line != NULL ? last.time_ms : 0,
        .last = last.line != NULL ? last.line : "",
        .reason = status->reason,
    };

    rows_add(session, STATUS_OF_ERRORS, &errors);
    /* It was found, and there was no memory for it. */
    session->listing->text.is_broken |= last.number > 0 && last.line == NULL;
    free(last.line);
}

static enum command_outcome show_errors(struct session *session)
{
    struct status_partition *partitions = NULL;
    size_t count = 0;

    if (session->listing == NULL && !rows_begin(session, SHOW_MIDDLE))
        return COMMAND_DONE;
    partitions =
        status_copy(session->daemon->broker, STATUS_OF_PARTITIONS, &count);
    if (partitions == NULL) {
        session->listing->text.is_broken = true;
        return rows_end(session);
    }
    while (session->listing->at < count && session->budget > 0)
        errors_add(session, &partitions[session->listing->at]);
    free(partitions);
    return session->listing->at < count ? COMMAND_YIELDS : rows_end(session);
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
    if (session->listing == NULL &&
        !client_walk_begin(session, false, CLIENTS_LISTED_MAX))
        return COMMAND_DONE;
    if (client_walk_run(session, client_add, NULL) == COMMAND_YIELDS)
        return COMMAND_YIELDS;
    return rows_end(session);
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

/* Users, and limited keys that were asked for, the most recently refused
 * first. */
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
        .audit_lines_lost = daemon->access.audit.lost,
        .takes_refused = daemon->access.quotas.refused,
        .tls_handshakes = daemon->counts.tls_handshakes,
        .tls_failed = daemon->counts.tls_failed,
        .commands_waiting = daemon->waitlists.waiter_count,
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
    if (!session_may_hold(session, SESSION_LONG_ANSWER, true) ||
        !listing_begin(session, 0, true))
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

/* Long answers, in parts. */
static const struct {
    const char *word;
    enum command_outcome (*show)(struct session *session);
} lists[] = {
    {"CLIENTS", show_clients},
    {"EVENTS", show_events},
    {"ERRORS", show_errors},
};

static const struct {
    const char *word;
    size_t size; /* approximate bytes of the answer, if it is long */
    void (*show)(struct session *session, const struct resp_request *request);
} shows[] = {
    {"LIMITS", SHOW_LONG, show_limits},
    {"STATS", SHOW_SHORT, show_stats},
};

enum command_outcome command_show(struct session *session,
                                  const struct resp_request *request)
{
    if (word_is(request->argv[1], "CONFIG") && request->argc <= 3)
        return show_config(session, request);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (word_is(request->argv[1], lists[i].word) && request->argc == 2)
            return lists[i].show(session);
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
