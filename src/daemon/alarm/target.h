/* SPDX-License-Identifier: Apache-2.0 */
/* Where messages go: the contract, and the two kinds. */
#pragma once

#include <stddef.h>

#include <seqbroker/status.h>

#include "daemon/alarm/wait.h"

enum alarm_outcome {
    ALARM_DELIVERED,
    ALARM_FAILED,  /* may succeed when it is tried again */
    ALARM_REFUSED, /* will not */
};

struct alarm_target {
    const char *name; /* of the setting */

    /* Hands over one message. Returns before the wait's end. If it was not
     * delivered, it says why. */
    enum alarm_outcome (*send)(struct alarm_target *target, const char *body,
                               struct alarm_wait *wait, struct seqb_error *why);

    void (*close)(struct alarm_target *target);
};

/* A program, which gets the message on its stdin. The path stays the caller's.
 * NULL: out of memory. */
struct alarm_target *alarm_program_open(const char *path);

/* A URL that it is posted to. Without a file of certificates those of the
 * system are trusted. NULL: out of memory. */
struct alarm_target *alarm_webhook_open(const char *url, const char *ca_file);

/* Whether this program was built with libcurl. */
bool alarm_webhook_is_built(void);
