/* SPDX-License-Identifier: Apache-2.0 */
/* What a name server answers to the test programs that take its place: lists of
 * addresses as getaddrinfo makes them. The test frees them by its freeaddrinfo.
 */
#pragma once

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#define RESOLVER_ONE INADDR_LOOPBACK       /* 127.0.0.1 */
#define RESOLVER_TWO (INADDR_LOOPBACK + 1) /* 127.0.0.2 */

static inline struct addrinfo *resolver_address(uint32_t host, int port,
                                                struct addrinfo *next)
{
    struct addrinfo *made = calloc(1, sizeof *made);
    struct sockaddr_in *address = calloc(1, sizeof *address);

    assert_non_null(made);
    assert_non_null(address);
    address->sin_family = AF_INET;
    address->sin_port = htons((uint16_t)port);
    address->sin_addr.s_addr = htonl(host);
    made->ai_family = AF_INET;
    made->ai_socktype = SOCK_STREAM;
    made->ai_addr = (struct sockaddr *)address;
    made->ai_addrlen = sizeof *address;
    made->ai_next = next;
    return made;
}

/* A number in the form of an address. EAI_NONAME: it is none. */
static inline int resolver_numeric(const char *name, int port,
                                   struct addrinfo **out)
{
    struct in_addr numeric;

    if (inet_pton(AF_INET, name, &numeric) != 1)
        return EAI_NONAME;
    *out = resolver_address(ntohl(numeric.s_addr), port, NULL);
    return 0;
}

/* "two" has the addresses 127.0.0.2 and 127.0.0.1, in that order; no other name
 * is known. */
static inline int resolver_named(const char *name, int port,
                                 struct addrinfo **out)
{
    if (strcmp(name, "two") != 0)
        return EAI_NONAME;
    *out = resolver_address(RESOLVER_TWO, port,
                            resolver_address(RESOLVER_ONE, port, NULL));
    return 0;
}

static inline void resolver_free(struct addrinfo *list)
{
    while (list != NULL) {
        struct addrinfo *next = list->ai_next;

        free(list->ai_addr);
        free(list);
        list = next;
    }
}
