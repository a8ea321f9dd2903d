/* SPDX-License-Identifier: Apache-2.0 */
/* The contract of a target of messages, and the two kinds of targets. */
#pragma once

#include <stddef.h>

#include <seqbroker/status.h>

#include "daemon/alarm/wait.h"

enum alarm_outcome {
    ALARM_DELIVERED,
    ALARM_FAILED,  /* another try may succeed */
    ALARM_REFUSED, /* another try would fail, too */
};

struct alarm_target {
    const char *name; /* the setting's name */

    /* Delivers one message. Returns before the wait's end. Unless
     * ALARM_DELIVERED, `*why` has the reason. */
    enum alarm_outcome (*send)(struct alarm_target *target, const char *body,
                               struct alarm_wait *wait, struct seqb_error *why);

    void (*close)(struct alarm_target *target);
};

/* A program that is run for each message, with the message on its stdin. The
 * path stays the caller's. Returns NULL if memory is short. */
struct alarm_target *alarm_program_open(const char *path);

/* A URL that messages are posted to. `ca_file` has the trusted certificates;
 * NULL: those of the system. Returns NULL if memory is short. */
struct alarm_target *alarm_webhook_open(const char *url, const char *ca_file);

/* Whether this program was built with libcurl. */
bool alarm_webhook_is_built(void);

/* Whether libcurl can post to that URL, of http or https. */
bool alarm_webhook_is_url(const char *url);
