/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A local network for tests: hosts, each in a network namespace, on one switch,
 * which the test program is on as well. Hosts can be cut off from each other;
 * the test program reaches all of them at any time.
 *
 * Only root may make one, as with netns.h. What must not fail here fails the
 * test; for its main thread alone.
 */
#pragma once

#define LAN_HOSTS        3
#define LAN_ADDRESS_SIZE 16

struct lan;

/* netns_require comes first. All hosts reach each other when it returns. */
struct lan *lan_new(void);

/* Servers on its hosts should be ended before. Takes NULL. */
void lan_free(struct lan *lan);

/* Of a NULL lan: the loopback address. */
const char *lan_address(const struct lan *lan, int host);

/* The host's network namespace, which stays the lan's; -1 of a NULL lan. */
int lan_fd(const struct lan *lan, int host);

/* From its return on, no packet passes between that host and the other hosts,
 * and nobody is told. */
void lan_cut(struct lan *lan, int host);

/* All pass again. */
void lan_heal(struct lan *lan);
