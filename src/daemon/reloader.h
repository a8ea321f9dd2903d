/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the topology again: by the library, and by the daemon itself what it
 * says of users, limits, alarms and the log. Off the loop: each call is on a
 * thread of its own, one after the other.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/reload.h>

#include "daemon/alarm/alarm.h"

#define RELOAD_LISTED_MAX 1000 /* changes of a report */

struct daemon;
struct limits_options;
struct reloader;
struct users;

/* What a reload did. */
struct reload_report {
    struct seqb_error err; /* SEQB_OK: it went well */
    size_t applied, restart;
    struct reload_line *lines; /* of at most RELOAD_LISTED_MAX changes */
    size_t count, left_out;
};

struct reload_line {
    enum seqb_reload_need need;
    char *path, *before, *after, *advice;
};

/* May be run from now on. Of the topology's file, which is the caller's (NULL:
 * the embedded default); `has_level`: --log-level goes before it. It is never
 * freed, since the thread that answers SIGHUP has it. NULL: out of memory. */
struct reloader *reloader_new(const char *topology, bool has_level);

/* Opens the alarms. Takes over the settings, which are empty then.
 * SEQB_NO_MEMORY. */
enum seqb_status reloader_watch(struct reloader *reloader,
                                struct alarm_settings *alarm,
                                struct seqb_error *err);

/* The daemon's broker is open, and its users are known; NULL: the broker is
 * about to be closed. Waits for a reload that is under way. */
void reloader_serve(struct reloader *reloader, struct daemon *daemon);

/* The users of a reload, once: the loop, which a reload wakes, puts them in
 * place. The caller's to free; NULL: there are none. `reloader` may be NULL. */
struct users *reloader_take_users(struct reloader *reloader);

/* The same of what clients may use up; for free(). */
struct limits_options *reloader_take_limits(struct reloader *reloader);

/* Reads the topology again, or only compares it. Whatever is refused is a line
 * of the log with `by`, a word for who asked. `*out` is for reload_report_free.
 * Any thread but the loop's. */
void reloader_run(struct reloader *reloader, bool is_check, const char *by,
                  struct reload_report *out);
void reload_report_free(struct reload_report *report);

/* When the topology was read last, ms since 1970; 0: at the start only,
 * or `reloader` is NULL. */
int64_t reloader_read_ms(const struct reloader *reloader);

/* Ends the alarms. NULL is allowed. */
void reloader_end(struct reloader *reloader);
