/* SPDX-License-Identifier: Apache-2.0 */
/* What passes for a memcached: a process that sends ready-made text on each
 * connection, drips, or closes in mid-reply, and keeps what it was sent. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "backends/backends.h"

/* What it does after its text: reads on, ends its side, or sends a byte now
 * and then. */
enum after { WAITS, CLOSES, DRIPS };

struct impostor {
    pid_t pid;
    int fd;
    int record[2]; /* a pipe: what it was sent */
    struct seqb_backend_options options;
    struct seqb_backend *backend;
    struct seqb_error err;
};

/* Starts it, with options that lead to it; `text` must live as long. */
void impostor_start(struct impostor *impostor, const char *text,
                    enum after after);

/* Opens a backend on it. */
enum seqb_status impostor_open(struct impostor *impostor);

/* Closes the backend; all that was sent over the first connection stands in
 * `out`. */
void impostor_recall(struct impostor *impostor, char *out, size_t size);

/* Ends it and closes the backend. */
void impostor_stop(struct impostor *impostor);
