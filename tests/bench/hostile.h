/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients that mean harm, in a process of their own: each does one thing of a
 * table, over and over, and connects again whenever it is closed.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

enum hostile_kind {
    HOSTILE_NUMBERS, /* asks for 100,000 texts at a time, and reads none */
    HOSTILE_TEXTS,   /* the same by HTTP, 10,000 at a time */
    HOSTILE_STATUS,  /* asks for the status, and does not read it */
    HOSTILE_SLOW,    /* half a request, a byte at a time */
    HOSTILE_LOOKUPS, /* SEQ.DECODE of unknown keys, SEQ.PARSE of garbage */
    HOSTILE_FLOOD,   /* connects, and closes */
    HOSTILE_LOGINS,  /* AUTH with a wrong password */
    HOSTILE_HTTP,    /* half a request of HTTP, a byte at a time */
    HOSTILE_ORDERS,  /* DRAIN and ADVANCE, which it may not give */
    HOSTILE_KINDS,   /* as a kind: all of them, as many of each */
};

/* What a client does, as a label. */
const char *hostile_name(enum hostile_kind kind);

struct hostile_options {
    int port;      /* of the Redis protocol */
    int http_port; /* of HTTP */
    enum hostile_kind kind;
    int connections;
};

/* Starts them, and returns when each has begun: the pid of their process, whose
 * priority is low, as it stands for machines of others. What fails ends the
 * program. */
pid_t hostile_start(const struct hostile_options *options);

/* Ends that process. */
void hostile_stop(pid_t pid);
