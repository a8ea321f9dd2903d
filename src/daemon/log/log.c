/* SPDX-License-Identifier: Apache-2.0 */
/* Writing and keeping lines; see log.h. Their format is in log_line.c. */
#include "daemon/log/log.h"

#include <jansson.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/log/flood.h"
#include "daemon/log/log_line.h"
#include "daemon/log/log_output.h"
#include "daemon/log/log_tally.h"
#include "status/json/json.h"

#define LINE_SIZE 4096 /* of a line of the daemon itself */

static struct {
    pthread_mutex_t lock; /* guards the rest; one line at a time */
    struct log_options options;
    struct flood flood;              /* of the lines that are written */
    bool is_journal;                 /* stderr is journald's */
    struct log_entry kept[LOG_KEPT]; /* a ring */
    size_t count;                    /* of all lines that were ever kept */
    uint64_t line_count;             /* of all lines since the start */
    const struct log_watcher *watchers[LOG_WATCHERS_MAX]; /* or NULL */
    struct log_tally tallies[LOG_EVENTS_MAX];
} log_state = {.lock = PTHREAD_MUTEX_INITIALIZER,
               .options = {LOG_LOGFMT, SEQB_LOG_INFO}};

/* --- words --- */

const char *log_format_name(enum log_format format)
{
    return format == LOG_JSON ? "json" : "logfmt";
}

bool log_format_find(const char *word, enum log_format *out)
{
    const bool is_json = strcmp(word, "json") == 0;

    if (!is_json && strcmp(word, "logfmt") != 0)
        return false;
    *out = is_json ? LOG_JSON : LOG_LOGFMT;
    return true;
}

bool log_level_find(const char *word, enum seqb_log_level *out)
{
    for (int i = SEQB_LOG_ERROR; i <= SEQB_LOG_DEBUG; i++) {
        if (strcmp(word, log_level_name((enum seqb_log_level)i)) == 0) {
            *out = (enum seqb_log_level)i;
            return true;
        }
    }
    return false;
}

/* Whether a logfmt parser reads the value correctly without quotes. */
static bool value_is_bare(const char *value)
{
    for (const char *at = value; *at != '\0'; at++) {
        if (*at <= ' ' || *at > '~' || strchr("\"=\\", *at) != NULL)
            return false;
    }
    return *value != '\0';
}

/* The value as a JSON string. If it is not UTF-8, each non-ASCII byte becomes
 * "?". */
static char *value_quoted(char *to, size_t size, const char *value)
{
    json_t *string = json_string(value);
    char *quoted;

    if (string == NULL) {
        snprintf(to, size, "%s", value);
        for (char *at = to; *at != '\0'; at++)
            if ((unsigned char)*at >= 0x80)
                *at = '?';
        string = json_string(to);
    }
    quoted = log_controls_escape(json_to_text(string, JSON_ENCODE_ANY));
    json_decref(string);
    return quoted;
}

/* Bytes of the character or escape of a JSON string that `at` begins with. */
static size_t unit_length(const char *at)
{
    const unsigned char first = (unsigned char)*at;

    if (first == '\\')
        return at[1] == 'u' ? 6 : 2;
    if (first >= 0xf0)
        return 4;
    if (first >= 0xe0)
        return 3;
    return first >= 0xc0 ? 2 : 1;
}

/* Copies what fits of a quoted value that is too long. */
static void quoted_cut(char *to, size_t size, const char *quoted)
{
    static const char cut[] = "...\"";
    size_t end = 1;

    while (end + unit_length(quoted + end) + sizeof cut <= size)
        end += unit_length(quoted + end);
    snprintf(to, size, "%.*s%s", (int)end, quoted, cut);
}

/* Memory is short: all but plain characters becomes "?". */
static void quoted_plainly(char *to, size_t size, const char *value)
{
    const char *at = value;
    size_t used = 1;

    to[0] = '"';
    for (; *at != '\0' && used + sizeof "...\"" < size; at++) {
        const bool is_plain =
            *at >= ' ' && *at <= '~' && *at != '"' && *at != '\\';

        to[used++] = '?';
        if (is_plain)
            to[used - 1] = *at;
    }
    snprintf(to + used, size - used, "%s\"", *at != '\0' ? "..." : "");
}

const char *log_quote(char *to, size_t size, const char *value)
{
    char *quoted = NULL;

    if (value_is_bare(value) && strlen(value) < size) {
        snprintf(to, size, "%s", value);
        return to;
    }
    quoted = value_quoted(to, size, value);
    if (quoted == NULL)
        quoted_plainly(to, size, value);
    else if (strlen(quoted) >= size)
        quoted_cut(to, size, quoted);
    else
        snprintf(to, size, "%s", quoted);
    free(quoted);
    return to;
}

/* --- lines --- */

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* With the lock held. The line is not kept if memory is short. */
static void entry_keep(const struct log_entry *entry)
{
    struct log_entry *at = &log_state.kept[log_state.count % LOG_KEPT];
    char *line = strdup(entry->line);

    if (line == NULL)
        return;
    free(at->line);
    *at = *entry;
    at->line = line;
    log_state.count++;
}

/* Without its date and as logfmt, since memory is short. */
static void entry_write_plainly(const struct log_entry *entry)
{
    const char *const parts[] = {log_level_name(entry->level), " ", entry->line,
                                 "\n"};

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        log_output_write(parts[i], strlen(parts[i]));
}

/* With the lock held. Written at once, so that no other output comes in
 * between. */
static void entry_write(const struct log_entry *entry)
{
    char *line =
        log_line_make(entry, log_state.options.format, log_state.is_journal);

    if (line != NULL)
        log_output_write(line, strlen(line));
    else
        entry_write_plainly(entry);
    free(line);
}

/* With the lock held. */
static void entry_show(const struct log_entry *entry)
{
    for (size_t i = 0; i < LOG_WATCHERS_MAX; i++) {
        const struct log_watcher *watcher = log_state.watchers[i];

        if (watcher != NULL)
            watcher->see(watcher->context, entry);
    }
}

/* With the lock held. */
static void line_add(enum seqb_log_level level, const char *line,
                     int64_t time_ms, bool is_certain)
{
    struct log_entry entry = {.number = ++log_state.line_count,
                              .time_ms = time_ms,
                              .level = level,
                              .line = (char *)line};

    log_tally_add(log_state.tallies, &entry);
    entry_keep(&entry);
    entry_show(&entry);
    if (is_certain || (level <= log_state.options.level &&
                       flood_admit(&log_state.flood, line, entry.time_ms)))
        entry_write(&entry);
}

/* As log_event, with the lock held. */
static void log_locked(enum seqb_log_level level, int64_t time_ms,
                       const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void log_locked(enum seqb_log_level level, int64_t time_ms,
                       const char *format, ...)
{
    char line[LINE_SIZE];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    line_add(level, line, time_ms, false);
}

/* With the lock held. */
static void losses_report(int64_t time_ms)
{
    int64_t count = log_output_lost();
    const char *name = NULL;

    if (count > 0)
        log_locked(SEQB_LOG_WARN, time_ms, "event=lines_lost count=%lld",
                   (long long)count);
    name = flood_report(&log_state.flood, time_ms, &count);

    if (name != NULL)
        log_locked(SEQB_LOG_WARN, time_ms,
                   "event=lines_left_out name=%s count=%lld", name,
                   (long long)count);
}

static void line_log(enum seqb_log_level level, const char *line,
                     bool is_certain)
{
    int64_t time_ms;

    pthread_mutex_lock(&log_state.lock);
    time_ms = now_ms();
    line_add(level, line, time_ms, is_certain);
    losses_report(time_ms);
    pthread_mutex_unlock(&log_state.lock);
}

void log_write(void *context, enum seqb_log_level level, const char *line)
{
    (void)context;
    line_log(level, line, false);
}

void log_certain(enum seqb_log_level level, const char *line)
{
    line_log(level, line, true);
}

void log_tick(void)
{
    pthread_mutex_lock(&log_state.lock);
    log_output_flush();
    losses_report(now_ms());
    pthread_mutex_unlock(&log_state.lock);
}

void log_finish(int32_t ms)
{
    pthread_mutex_lock(&log_state.lock);
    log_output_drain(ms);
    pthread_mutex_unlock(&log_state.lock);
}

void log_event(enum seqb_log_level level, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    log_write(NULL, level, line);
}

/* --- options, watchers and readers --- */

/* systemd passes the device and inode of journald's socket, since stderr may
 * have been redirected meanwhile. */
static bool stderr_is_journal(void)
{
    const char *stream = getenv("JOURNAL_STREAM");
    struct stat about;
    char own[64];

    if (stream == NULL || fstat(STDERR_FILENO, &about) != 0)
        return false;
    snprintf(own, sizeof own, "%ju:%ju", (uintmax_t)about.st_dev,
             (uintmax_t)about.st_ino);
    return strcmp(stream, own) == 0;
}

void log_open(const struct log_options *options)
{
    pthread_mutex_lock(&log_state.lock);
    log_state.options = *options;
    log_state.is_journal = stderr_is_journal();
    log_output_open();
    pthread_mutex_unlock(&log_state.lock);
}

void log_set_level(enum seqb_log_level level)
{
    pthread_mutex_lock(&log_state.lock);
    log_state.options.level = level;
    pthread_mutex_unlock(&log_state.lock);
}

struct log_options log_options_now(void)
{
    struct log_options options;

    pthread_mutex_lock(&log_state.lock);
    options = log_state.options;
    pthread_mutex_unlock(&log_state.lock);
    return options;
}

uint64_t log_line_count(void)
{
    uint64_t count;

    pthread_mutex_lock(&log_state.lock);
    count = log_state.line_count;
    pthread_mutex_unlock(&log_state.lock);
    return count;
}

void log_tallies(struct log_tally out[LOG_EVENTS_MAX])
{
    pthread_mutex_lock(&log_state.lock);
    memcpy(out, log_state.tallies, sizeof log_state.tallies);
    pthread_mutex_unlock(&log_state.lock);
}

/* With the lock held. The index of the first kept line after that number. The
 * search starts at the end, since most readers follow the newest lines. */
static size_t entry_find(uint64_t after)
{
    const size_t first =
        log_state.count > LOG_KEPT ? log_state.count - LOG_KEPT : 0;
    size_t at = log_state.count;

    while (at > first && log_state.kept[(at - 1) % LOG_KEPT].number > after)
        at--;
    return at;
}

/* With the lock held. */
static const struct log_entry *entry_next(uint64_t after,
                                          enum seqb_log_level level)
{
    for (size_t at = entry_find(after); at < log_state.count; at++)
        if (log_state.kept[at % LOG_KEPT].level <= level)
            return &log_state.kept[at % LOG_KEPT];
    return NULL;
}

bool log_read(uint64_t *at, enum seqb_log_level level, struct log_entry *out)
{
    const struct log_entry *entry = NULL;
    char *line = NULL;

    pthread_mutex_lock(&log_state.lock);
    entry = entry_next(*at, level);
    if (entry != NULL)
        line = strdup(entry->line);
    if (line != NULL) {
        *out = *entry;
        out->line = line;
    }
    if (line != NULL || entry == NULL)
        *at = entry != NULL ? entry->number : log_state.line_count;
    pthread_mutex_unlock(&log_state.lock);
    return line != NULL;
}

bool log_find_last(const char *words, enum seqb_log_level level,
                   struct log_entry *out)
{
    const struct log_entry *found = NULL;

    pthread_mutex_lock(&log_state.lock);
    for (size_t at = log_state.count, first = entry_find(0);
         at > first && found == NULL; at--) {
        const struct log_entry *entry = &log_state.kept[(at - 1) % LOG_KEPT];

        if (entry->level <= level && strstr(entry->line, words) != NULL)
            found = entry;
    }
    if (found != NULL) {
        *out = *found;
        out->line = strdup(found->line);
    }
    pthread_mutex_unlock(&log_state.lock);
    return found != NULL && out->line != NULL;
}

void log_span(uint64_t *oldest, uint64_t *newest)
{
    *oldest = 0;
    *newest = 0;
    pthread_mutex_lock(&log_state.lock);
    if (log_state.count > 0) {
        *oldest = log_state.kept[entry_find(0) % LOG_KEPT].number;
        *newest = log_state.kept[(log_state.count - 1) % LOG_KEPT].number;
    }
    pthread_mutex_unlock(&log_state.lock);
}

static bool watcher_replace(const struct log_watcher *old,
                            const struct log_watcher *new)
{
    bool is_found = false;

    pthread_mutex_lock(&log_state.lock);
    for (size_t i = 0; i < LOG_WATCHERS_MAX && !is_found; i++) {
        is_found = log_state.watchers[i] == old;
        if (is_found)
            log_state.watchers[i] = new;
    }
    pthread_mutex_unlock(&log_state.lock);
    return is_found;
}

bool log_watch(const struct log_watcher *watcher)
{
    return watcher_replace(NULL, watcher);
}

void log_pause(void (*use)(void *context), void *context)
{
    pthread_mutex_lock(&log_state.lock);
    use(context);
    pthread_mutex_unlock(&log_state.lock);
}

void log_unwatch(const struct log_watcher *watcher)
{
    watcher_replace(watcher, NULL);
}
