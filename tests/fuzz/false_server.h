/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that says to each client the same bytes and then its end, whatever
 * it is asked: for fuzzers of those who read answers. It has a thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Where it listens; to be called once, by a fuzzer's initialization. */
struct false_server {
    char path[108];   /* of a unix socket */
    char address[32]; /* of TCP, "127.0.0.1:port" */
};

const struct false_server *false_server_start(void);

/* What clients hear that connect from now on. The bytes are copied; more than
 * FALSE_SERVER_MAX are cut. */
#define FALSE_SERVER_MAX 16384

void false_server_say(const uint8_t *bytes, size_t size);
