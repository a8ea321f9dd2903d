/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's log: the lines of the library and of the daemon itself, on
 * stderr. The last lines are kept in memory to be shown. There is one log per
 * process, as there is one stderr. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/seqbroker.h>

#define LOG_LEVELS       (SEQB_LOG_DEBUG + 1)
#define LOG_KEPT         1000 /* lines */
#define LOG_WATCHERS_MAX 4
#define LOG_EVENTS_MAX   96 /* event names that are counted separately */

enum log_format { LOG_LOGFMT, LOG_JSON };

struct log_options {
    enum log_format format;
    enum seqb_log_level level; /* lines below it are kept, but not written */
};

/* A line as it was logged: logfmt, without date and level. */
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

/* Parse the words of --log-format and --log-level. False if the word is
 * unknown. */
bool log_format_find(const char *word, enum log_format *out);
bool log_level_find(const char *word, enum seqb_log_level *out);

/* Sets format and level of the lines. Before the call they are logfmt, of level
 * info or above. */
void log_open(const struct log_options *options);

/* Sets the level: lines below it are not written from now on. */
void log_set_level(enum seqb_log_level level);

/* The format and level in use. */
struct log_options log_options_now(void);

/* How many lines were logged so far. */
uint64_t log_line_count(void);

/* An event that the daemon may log. */
struct log_event_kind {
    const char *name;
    unsigned levels; /* bit of each enum seqb_log_level that it may have */
};

extern const struct log_event_kind log_event_kinds[]; /* ends with name NULL */

/* Counters of one event since the start. */
struct log_tally {
    char event[32]; /* "raised", ...; "": free, as are all that follow */
    int64_t lines[LOG_LEVELS];     /* by their enum seqb_log_level */
    int64_t numbers, taken, given; /* sums of these fields of the lines */
    int64_t kept, waiting;         /* these fields of the last line */
    uint64_t last;                 /* number of the last line; 0: none */
};

void log_tallies(struct log_tally out[LOG_EVENTS_MAX]);

/* Writes a line; this function is the library's logger. It does not wait for
 * who reads stderr: what a pipe, a socket or a terminal does not take is held,
 * up to 256 KiB, and written with a later line or by log_tick. Lines beyond
 * that are lost, and counted in a line. If an event comes very
 * often, some of its lines are not written to stderr. All lines are kept and
 * passed to the watchers. */
void log_write(void *context, enum seqb_log_level level, const char *line);

/* As log_write, for a line that is written whatever the level is, and however
 * often its event comes. */
void log_certain(enum seqb_log_level level, const char *line);

/* Writes lines that are held, and logs how many were not written, as each line
 * does. To be called while no line may come. */
void log_tick(void);

/* Waits until no line is held; without progress, `ms` at most. The process
 * ends. */
void log_finish(int32_t ms);

/* Writes the text, as it is, if stderr takes it at once. For a signal
 * handler. */
void log_last_words(const char *text);

/* Logs a line of the daemon itself: "event=... key=value ...". A value that may
 * have a space, a quote or the like must go through log_quote. */
void log_event(enum seqb_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes `value` into `to` as a logfmt value, in quotes if it needs them, and
 * returns `to`. A value that does not fit is cut, not within a character or an
 * escape, and ends with `..."`. `size` is at least 8. */
const char *log_quote(char *to, size_t size, const char *value);

/* A word `key=value` of a line. Both parts point into the line. The value has
 * its quotes, if there are any. */
struct log_word {
    const char *key;
    size_t key_length;
    const char *value;
    size_t value_length;
};

/* Reads the first word, and moves `*line` behind it. False if there is none. */
bool log_word_next(const char **line, struct log_word *out);

/* Finds the first word with that key. False if there is none. */
bool log_word_find(const char *line, const char *key, struct log_word *out);

/* The line as a JSON object, as --log-format=json writes it, to be freed with
 * free(). NULL if memory is short. */
char *log_json(const struct log_entry *entry);

/* Copies the first kept line after number `*at` that is of `level` or above,
 * and sets `*at` to its number. The copy's text must be freed with free().
 * False if there is no such line, and `*at` becomes the number of the last
 * line; or if memory is short, and `*at` is unchanged. */
bool log_read(uint64_t *at, enum seqb_log_level level, struct log_entry *out);

/* Copies the last kept line that is of `level` or above and contains `words`.
 * The copy's text must be freed with free(). False if there is none, or memory
 * is short. */
bool log_find_last(const char *words, enum seqb_log_level level,
                   struct log_entry *out);

/* The numbers of the oldest and the newest kept line; 0 if no line is kept
 * yet. */
void log_span(uint64_t *oldest, uint64_t *newest);

/* The line as a JSON object, as --log-format json writes it, to be freed with
 * free(). NULL if memory is short. */
char *log_entry_json(const struct log_entry *entry);

/* Is called with each line as it is logged, by any thread and with the log's
 * lock held: it must neither log nor wait. */
struct log_watcher {
    void (*see)(void *context, const struct log_entry *entry);
    void *context;
};

/* Adds a watcher, which stays the caller's. It is called for each line of any
 * level. False if there are LOG_WATCHERS_MAX already. */
bool log_watch(const struct log_watcher *watcher);

/* Calls `use` between two lines: no watcher is called meanwhile, and `use` must
 * not log. */
void log_pause(void (*use)(void *context), void *context);

/* Removes a watcher. It is not called any more after this function returns. */
void log_unwatch(const struct log_watcher *watcher);
