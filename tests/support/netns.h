/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network namespace beside the machine's own, joined to it by a pair of
 * virtual interfaces, with firewall rules inside: what really happens when
 * packets are lost. It has no name, so that it ends with the test program,
 * however that ends, and its interfaces and rules end with it.
 *
 * Only root may make one. What must not fail here fails the test; for its main
 * thread alone, unless it says otherwise.
 */
#pragma once

#include <stdint.h>

struct netns;

/* Fails the test, and says why, where none can be made. */
void netns_require(void);

struct netns *netns_new(void);

/* Sockets in it should be closed before. Takes NULL. */
void netns_free(struct netns *netns);

/* Its address, for those outside. */
const char *netns_address(const struct netns *netns);

/* A socket inside (NULL: outside), by any thread; as socket(2). */
int netns_socket(const struct netns *netns, int domain, int type);

enum netns_rule {
    NETNS_PASS,
    NETNS_DROP,       /* no packet to that port or from it, and no word of it */
    NETNS_REJECT,     /* whoever sends to that port is told: tcp reset */
    NETNS_UNREACHABLE /* or: ICMP, port unreachable */
};

/* For a TCP port inside, in force on return. */
void netns_set(const struct netns *netns, int32_t port, enum netns_rule rule);

/* For lan.c: a namespace without anything in it, as a file descriptor; and a
 * command of the shell, which must succeed, in one; -1: outside. */
int netns_make(void);
void netns_run(int ns, const char *command);
