/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reloading the topology: the library applies its part, and the daemon the
 * users, limits, alarms and the log. It happens off the loop, each reload on
 * the thread of its caller, one at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/reload.h>

#include "daemon/alarm/alarm.h"
#include "daemon/reloader/report.h"

struct daemon;
struct limits_options;
struct reloader;
struct users;

/* Makes a reloader of the topology's file; the path stays the caller's (NULL:
 * the embedded default). `has_level`: --log-level overrides the topology. It is
 * never freed, because the thread that answers SIGHUP holds it. NULL if memory
 * is short. */
struct reloader *reloader_new(const char *topology, bool has_level);

/* Opens the alarms. Takes over the settings, and leaves `alarm` empty.
 * SEQB_NO_MEMORY. */
enum seqb_status reloader_watch(struct reloader *reloader,
                                struct alarm_settings *alarm,
                                struct seqb_error *err);

/* Allows reloads: the daemon's broker is open, and its users are set. NULL
 * forbids them: the broker is about to be closed. Waits for a reload in
 * progress. */
void reloader_serve(struct reloader *reloader, struct daemon *daemon);

/* Takes the users of the last reload, once. A reload wakes the loop, which
 * calls this and applies them. The caller owns the result; NULL if there are
 * none. `reloader` may be NULL. */
struct users *reloader_take_users(struct reloader *reloader);

/* The same for the limits of clients, to be freed with free(). */
struct limits_options *reloader_take_limits(struct reloader *reloader);

/* Reads the topology again, and applies it or, with `is_check`, only compares
 * it. A refused reload is logged with `by`, a word for who asked. `*out` is for
 * reload_report_free. Any thread but the loop's. */
void reloader_run(struct reloader *reloader, bool is_check, const char *by,
                  struct reload_report *out);

/* When the topology was last reloaded, ms since 1970; 0: never, or `reloader`
 * is NULL. */
int64_t reloader_read_ms(const struct reloader *reloader);

/* Ends the alarms until reloader_watch_again, which uses the same settings. */
void reloader_unwatch(struct reloader *reloader);

/* Without memory there are no alarms. */
void reloader_watch_again(struct reloader *reloader);

/* Ends the alarms. NULL is allowed. */
void reloader_end(struct reloader *reloader);
