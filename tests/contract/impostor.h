/* SPDX-License-Identifier: Apache-2.0 */
/* A fake server: a process that sends a fixed text on each connection, whatever
 * it receives, and keeps what it received. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include <seqbroker/backend.h>

/* What it does after the text: continues to read, shuts down its side, or sends
 * a byte now and then for two seconds. */
enum after { WAITS, CLOSES, DRIPS };

struct impostor {
    pid_t pid;
    int fd;
    /* A pipe with the bytes that it received. */
    int record[2];
    struct seqb_backend_options options; /* for a backend that connects to it */
    struct seqb_backend *backend;        /* NULL: not open */
    struct seqb_error err;
};

/* Starts it on a free port of 127.0.0.1. The options may be changed
 * afterwards. */
void impostor_start(struct impostor *impostor, const char *text,
                    enum after after);

/* The same with a text that may contain 0 bytes. */
void impostor_start_bytes(struct impostor *impostor, const char *text,
                          size_t length, enum after after);

/* Opens a backend that connects to it. */
enum seqb_status impostor_open(struct impostor *impostor,
                               const struct seqb_backend_ops *ops);

/* Closes the backend, and writes all that the first connection sent to
 * `out`. */
void impostor_recall(struct impostor *impostor, char *out, size_t size);

/* Ends the process and closes the backend. */
void impostor_stop(struct impostor *impostor);

/* For cmocka: *state becomes an impostor that the test must start. The teardown
 * stops it. */
int impostor_setup(void **state);
int impostor_teardown(void **state);

#define IMPOSTOR                                                               \
    FIXTURE(struct impostor *impostor, impostor_setup, impostor_teardown)
