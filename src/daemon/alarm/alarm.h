/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alarms: what of the log leaves the process, by a program or a webhook of the
 * operator's (docs/alarms.md). Deliveries have threads of their own. Nothing in
 * the daemon waits for them but its stop, for a bounded time. The front header
 * of this folder.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/seqbroker.h>

#define ALARM_ATTEMPTS 4

/* What the topology says. */
struct alarm_settings {
    char *on_event;        /* a program; NULL: none */
    char *webhook;         /* a URL; NULL: none */
    char *webhook_ca_file; /* NULL: the system's certificates */
    char *broker;
    enum seqb_log_level level;
    int64_t reminder_ms;
};

struct alarm_limits {
    int64_t send_ms;  /* one try to deliver a message */
    int64_t grace_ms; /* what is under way as the daemon stops */
    int64_t retry_ms; /* before the second try; then twice as long each time */
};

/* The defaults. `*out` is for alarm_settings_free in any case. */
void alarm_settings_init(struct alarm_settings *out);

/* Takes a setting as seqb_daemon_settings says it. One that is no alarm's is
 * left alone. False: out of memory. */
bool alarm_settings_take(struct alarm_settings *settings, const char *name,
                         const char *value);

/* SEQB_INVALID: what they name cannot be used. */
enum seqb_status alarm_settings_check(const struct alarm_settings *settings,
                                      struct seqb_error *err);

void alarm_settings_free(struct alarm_settings *settings);

struct alarms;

/* From now on the log is watched. NULL limits are the usual ones. The settings
 * stay the caller's. `*out` is for alarms_close; NULL if nothing is to be told.
 * SEQB_NO_MEMORY. */
enum seqb_status alarms_open(const struct alarm_settings *settings,
                             const struct alarm_limits *limits,
                             struct alarms **out, struct seqb_error *err);

/* Ends what is under way within limits.grace_ms. Takes NULL. */
void alarms_close(struct alarms *alarms);
