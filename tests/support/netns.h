/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network namespace that a pair of virtual interfaces connects to the
 * machine's own. Firewall rules in it make packets really get lost. It has no
 * name, so that the kernel removes it, its interfaces and its rules when the
 * test program ends in any way.
 *
 * Needs root. A failure of these functions fails the test. Call them from the
 * main thread only, unless their comment says otherwise.
 */
#pragma once

#include <stdint.h>

struct netns;

/* Fails the test, with the reason, if no namespace can be made. */
void netns_require(void);

struct netns *netns_new(void);

/* Close sockets in it first. NULL is allowed. */
void netns_free(struct netns *netns);

/* Its address, as seen from outside. */
const char *netns_address(const struct netns *netns);

/* A socket inside the namespace (NULL: outside), like socket(2). Any thread may
 * call it. */
int netns_socket(const struct netns *netns, int domain, int type);

enum netns_rule {
    NETNS_PASS,
    NETNS_DROP,       /* drops packets to and from the port silently */
    NETNS_REJECT,     /* answers packets to the port by a TCP reset */
    NETNS_UNREACHABLE /* ... by ICMP "port unreachable" */
};

/* Sets the rule for a TCP port inside. It is in force on return. */
void netns_set(const struct netns *netns, int32_t port, enum netns_rule rule);

/* For lan.c: netns_make returns the file descriptor of an empty namespace.
 * netns_run runs a shell command, which must succeed, in a namespace (-1:
 * outside). */
int netns_make(void);
void netns_run(int ns, const char *command);
