/* SPDX-License-Identifier: Apache-2.0 */
/* Where a Redis server listens, as settings and other servers say it. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct redis_address {
    char host[256]; /* its name or address; a socket's path if port is 0 */
    int port;
};

/* 1 ... 65535. */
bool redis_port_parse(const char *text, int *out);

/* "host:port"; the host may be an IPv6 address, in brackets or not. */
bool redis_address_parse(const char *text, struct redis_address *out);

bool redis_address_equal(const struct redis_address *a,
                         const struct redis_address *b);
