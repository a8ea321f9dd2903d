/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client's side of a wire: connections to a server on this machine, and
 * requests whose replies are lines. What fails ends the program.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/types.h>

#define WIRE_INPUT_SIZE ((size_t)256 * 1024)

/* "tcp:PORT", "tls:PORT" or "unix:PATH"; -1 if the address is none of them. */
int wire_dial(const char *address);

/* Shakes hands on the socket of a "tls:PORT", without looking at whose
 * certificate it is; NULL for other addresses. For SSL_free. */
SSL *wire_secure(const char *address, int fd);

/* INCR key; of several numbers: SEQ.NEXT key COUNT numbers. */
struct wire_request {
    char text[256];
    size_t size;
    int numbers;
    int lines; /* of the reply */
};

bool wire_request_make(const char *key, int numbers, struct wire_request *out);

/* So many requests in a row; the caller's to free. */
char *wire_batch_new(const struct wire_request *request, size_t count);

/* The line ends in what has come; an error of the server ends the program. */
int wire_count_lines(const char *input, size_t size);
