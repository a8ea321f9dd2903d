/* SPDX-License-Identifier: Apache-2.0 */
/* A process that answers each connection, one at a time, with the same
 * ready-made text, whatever is asked; and a redis backend on it. */
#pragma once

#include <sys/types.h>

#include "backends/backends.h"

/* What it does after the text: nothing, until the client closes; it closes; or
 * it sends a byte now and then, for two seconds. */
enum after { WAITS, CLOSES, DRIPS };

struct impostor {
    pid_t pid;
    int fd;
    struct seqb_backend_options options; /* of a backend on it */
    struct seqb_backend *backend;        /* NULL: not open */
    struct seqb_error err;
};

/* Starts it on a free port of 127.0.0.1; the options may be changed then. */
void impostor_start(struct impostor *impostor, const char *text,
                    enum after after);
enum seqb_status impostor_open(struct impostor *impostor);
void impostor_stop(struct impostor *impostor);
