/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's log: what the library and the daemon itself tell, as lines on
 * stderr; the last ones are kept to be shown. One for the process, since stderr
 * is one; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/seqbroker.h>

#define LOG_KEPT         1000 /* lines */
#define LOG_WATCHERS_MAX 4
#define LOG_EVENTS_MAX   64 /* names that are told apart */

enum log_format { LOG_LOGFMT, LOG_JSON };

struct log_options {
    enum log_format format;
    enum seqb_log_level level; /* lines below it are kept, and not written */
};

/* A line as it was told: logfmt, without date and level. */
struct log_entry {
    uint64_t number; /* of all lines of this process, from 1 */
    int64_t time_ms; /* since 1970 */
    enum seqb_log_level level;
    char *line;
};

/* "error", "warn", "info", "debug" */
const char *log_level_name(enum seqb_log_level level);

/* "logfmt", "json" */
const char *log_format_name(enum log_format format);

/* What --log-format and --log-level say. False if they say nothing. */
bool log_format_find(const char *word, enum log_format *out);
bool log_level_find(const char *word, enum seqb_log_level *out);

/* From now on lines look so. Before that they are logfmt, of level info or
 * above. */
void log_open(const struct log_options *options);

/* Lines below that level are not written from now on. */
void log_set_level(enum seqb_log_level level);

/* How lines look now. */
struct log_options log_options_now(void);

/* How many lines there were so far. */
uint64_t log_line_count(void);

/* The lines of one event so far, of any level. */
struct log_tally {
    char event[32]; /* "raised", ...; "": none yet, nor behind it */
    int64_t lines;
    int64_t numbers, taken, given; /* sums of these fields of theirs */
    int64_t kept;                  /* the same field of the last one */
};

void log_tallies(struct log_tally out[LOG_EVENTS_MAX]);

/* A line of the library's, whose logger this is. Of an event that comes very
 * often some are not written to stderr; all are kept and seen. */
void log_write(void *context, enum seqb_log_level level, const char *line);

/* To be called now and then: logs how many lines were not written. */
void log_tick(void);

/* A line of the daemon's own: "event=... key=value ...". A value that may hold
 * a space, a quote or the like goes through log_quote. */
void log_event(enum seqb_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes `value` into `to` as a logfmt value, in quotes if it needs them, and
 * returns `to`. One that does not fit is left out: `""`. */
const char *log_quote(char *to, size_t size, const char *value);

/* A word `key=value` of a line. Both are parts of the line. The value is as it
 * stands there: with its quotes if it has some. */
struct log_word {
    const char *key;
    size_t key_length;
    const char *value;
    size_t value_length;
};

/* Moves `line` behind its first word. False: there is none. */
bool log_word_next(const char **line, struct log_word *out);

/* The first word of that key. False: there is none. */
bool log_word_find(const char *line, const char *key, struct log_word *out);

/* Writes the line as an object of JSON, as --log-format=json does. NULL: out of
 * memory; else for free(). */
char *log_json(const struct log_entry *entry);

/* Calls `visit` for each line that is kept, the oldest first. It must not
 * log. */
void log_visit(void (*visit)(void *context, const struct log_entry *entry),
               void *context);

/* Copies the first kept line behind number `*at` that is of `level` or above,
 * and moves `*at` to it; the text is for free(). False: there is none, and
 * `*at` is at the last line; or memory is short, and `*at` stays. */
bool log_read(uint64_t *at, enum seqb_log_level level, struct log_entry *out);

/* The numbers of the oldest and the newest line that is kept; 0: there is none
 * yet. */
void log_span(uint64_t *oldest, uint64_t *newest);

/* The line as an object of JSON, as --log-format json shows it; for free().
 * NULL: out of memory. */
char *log_entry_json(const struct log_entry *entry);

/* Who sees each line as it is written. It is called with the log's lock held
 * and by any thread, so it must neither log nor wait. */
struct log_watcher {
    void (*see)(void *context, const struct log_entry *entry);
    void *context;
};

/* From now on `watcher`, which is the caller's, sees each line of any level.
 * False: LOG_WATCHERS_MAX watch already. */
bool log_watch(const struct log_watcher *watcher);

/* After it returns `watcher` is not called any more. */
void log_unwatch(const struct log_watcher *watcher);
