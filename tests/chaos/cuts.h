/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cluster whose servers and brokers are on the hosts of a network, and hosts
 * that the network cuts off while brokers take numbers. Needs root, like
 * lan.h.
 */
#pragma once

#include "chaos.h"
#include "support/lan.h"

/* The network of all scenarios. Places the brokers that start from now on: two
 * are on host 0, and one is on each other host. Call cuts_end at the end. */
struct lan *cuts_begin(struct chaos *chaos);
void cuts_end(void);

/* Of a fault: that host is cut off, with the servers and brokers on it, until
 * the brokers of the other hosts have been granted numbers. Those of the host
 * itself go on as well; whether they are granted any depends on the store. */
void cuts_host(struct chaos *chaos, int host);
