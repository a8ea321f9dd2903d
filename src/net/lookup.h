/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking up a host's name within a deadline. getaddrinfo(3) has none: with a
 * name server that does not answer it takes 10 s by resolv.conf(5)'s defaults,
 * and may take longer. So a thread of its own asks, and nobody waits for that
 * thread longer than the deadline.
 */
#pragma once

#include <netdb.h>
#include <stdint.h>

/* Look-ups that hang at a time, of the whole process: a further one fails at
 * once. An address needs none. */
#define LOOKUP_HANGING_MAX 32

/*
 * The addresses of a host, a name or an address, in the order in which they
 * are to be tried; for freeaddrinfo(3). NULL, or why there are none, a text
 * that lives for ever. `deadline_ms` is by clock_now_ms(). Any thread may call.
 */
const char *lookup_host(const char *host, int port, int64_t deadline_ms,
                        struct addrinfo **out);
