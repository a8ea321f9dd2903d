/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alarms: sends selected log events out of the process, to a program or a
 * webhook of the operator (docs/alarms.md). Each target has a delivery thread.
 * Nothing in the daemon waits for deliveries except its shutdown, for a bounded
 * time. The front header of this folder.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/seqbroker.h>

#include "daemon/reasons.h"

#define ALARM_ATTEMPTS 4

/* The settings of alarms in the topology. */
struct alarm_settings {
    char *on_event;        /* path of a program; NULL: none */
    char *webhook;         /* a URL; NULL: none */
    char *webhook_ca_file; /* NULL: the system's certificates */
    char *broker;
    enum seqb_log_level level;
    int64_t reminder_ms;
};

struct alarm_limits {
    int64_t send_ms;  /* for one try to deliver a message */
    int64_t grace_ms; /* for all deliveries when the daemon stops: half of it
                         for the one that runs */
    int64_t retry_ms; /* before the second try; doubled for each further one */
    int64_t rest_ms;  /* after the last try failed; see alarm_rules */
};

/* Sets the defaults. `*out` must be passed to alarm_settings_free in any
 * case. */
void alarm_settings_init(struct alarm_settings *out);

/* Takes a setting as seqb_daemon_settings reports it. Settings of other
 * sections are ignored. False if memory is short. */
bool alarm_settings_take(struct alarm_settings *settings, const char *name,
                         const char *value);

/* SEQB_INVALID if the program, the URL or the file cannot be used. Each one is
 * reported to `reasons` (NULL is allowed); the first one is the error. */
enum seqb_status alarm_settings_check(const struct alarm_settings *settings,
                                      const struct reasons *reasons,
                                      struct seqb_error *err);

void alarm_settings_free(struct alarm_settings *settings);

struct alarms;

/* Starts watching the log. `limits` may be NULL: the defaults. The settings
 * stay the caller's, and must live as long as the alarms. `*out` is for
 * alarms_close, and NULL after an error. If no target is configured, it knows
 * the states that last, for alarms_take_over. SEQB_NO_MEMORY. */
enum seqb_status alarms_open(const struct alarm_settings *settings,
                             const struct alarm_limits *limits,
                             struct alarms **out, struct seqb_error *err);

/* As alarms_open, but events become alarms only from alarms_take_over on. */
enum seqb_status alarms_open_next(const struct alarm_settings *settings,
                                  const struct alarm_limits *limits,
                                  struct alarms **out, struct seqb_error *err);

/* `next` takes over: each event becomes an alarm of one of them. A target gets
 * the states that the target of the same setting had, so that it is sent their
 * end. A target that was not configured, or is another one, is sent the states
 * that last; so are, at a lower level, those that were below the old one.
 * `previous` has nothing to send any more, and is to be closed before `next`.
 * NULL: there is none. */
void alarms_take_over(struct alarms *next, struct alarms *previous);

/* Stops. What waits is tried once more, within limits.grace_ms. NULL is
 * allowed. */
void alarms_close(struct alarms *alarms);
