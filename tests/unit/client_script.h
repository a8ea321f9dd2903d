/* SPDX-License-Identifier: Apache-2.0 */
/* A client library of MySQL whose server answers each statement as the test
 * says, and which tells what was sent. Statements end at each ';'. */
#pragma once

#include "backends/mysql/mysql.h"
#include "support/test.h"

#define REPLY_COLUMNS 6
#define TIMES_OUT     9 /* ... this as 0, at the end of its time */

struct reply {
    unsigned error;
    uint64_t changed;
    uint64_t id;
    int rows; /* a result set with so many of the rows below; 0: none, ... */
    bool is_empty; /* ... but an empty one */
    const char *cells[3][REPLY_COLUMNS];
};

struct client {
    struct reply replies[16]; /* those behind them are {.changed = 1} */
    int64_t now_ms;
    int polls[4]; /* what each poll returns, 0 counting as 1, and ... */
    int poll_error;
    int polled;
    int poll_ms;     /* the time-out of the last one */
    bool keeps_rows; /* a result set is not handed out */
    int held;        /* result sets that are not freed */
    int sends_fail;  /* packets that are not sent */
    int closed;
    int taken;       /* replies */
    char sent[4096]; /* the packets, a '\n' behind each */
};

extern struct client client;

/* A link to a server called "here", in a call of 1,000 ms. */
void client_begin(struct mysql *mysql);

/* These packets were sent since the last time, and nothing else. */
void client_must_send(const char *packets);
