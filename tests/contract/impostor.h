/* SPDX-License-Identifier: Apache-2.0 */
/* What passes for a server: a process that sends ready-made text on each
 * connection, whatever is asked, and keeps what it was sent. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include <seqbroker/backend.h>

/* What it does after its text: reads on, ends its side, or sends a byte now
 * and then, for two seconds. */
enum after { WAITS, CLOSES, DRIPS };

struct impostor {
    pid_t pid;
    int fd;
    int record[2];                       /* a pipe: what it was sent */
    struct seqb_backend_options options; /* of a backend on it */
    struct seqb_backend *backend;        /* NULL: not open */
    struct seqb_error err;
};

/* Starts it on a free port of 127.0.0.1; the options may be changed then. */
void impostor_start(struct impostor *impostor, const char *text,
                    enum after after);

/* The same with a text that may have a 0 in it. */
void impostor_start_bytes(struct impostor *impostor, const char *text,
                          size_t length, enum after after);

/* Opens a backend on it. */
enum seqb_status impostor_open(struct impostor *impostor,
                               const struct seqb_backend_ops *ops);

/* Closes the backend; all that was sent over the first connection stands in
 * `out`. */
void impostor_recall(struct impostor *impostor, char *out, size_t size);

/* Ends it and closes the backend. */
void impostor_stop(struct impostor *impostor);
