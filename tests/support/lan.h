/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A local network for tests: hosts, each in a network namespace, on one switch.
 * The test program is on the switch, too. Hosts can be cut off from each other,
 * but the test program always reaches all of them.
 *
 * Needs root, like netns.h. A failure of these functions fails the test. Call
 * them from the main thread only.
 */
#pragma once

#define LAN_HOSTS        3
#define LAN_ADDRESS_SIZE 16

struct lan;

/* Call netns_require first. All hosts reach each other on return. */
struct lan *lan_new(void);

/* Stop servers on its hosts first. NULL is allowed. */
void lan_free(struct lan *lan);

/* The host's address. If `lan` is NULL, the loopback address. */
const char *lan_address(const struct lan *lan, int host);

/* The host's network namespace, which the lan owns; -1 if `lan` is NULL. */
int lan_fd(const struct lan *lan, int host);

/* On return, packets between that host and the other hosts are dropped, without
 * an ICMP message or a reset. */
void lan_cut(struct lan *lan, int host);

/* Ends all cuts. */
void lan_heal(struct lan *lan);
