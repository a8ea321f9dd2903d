/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Four private stores of three kinds, each behind a fault proxy, and faults
 * that a test can apply to any of them while a broker runs. If a network
 * namespace can be made, the proxies are in it, behind a firewall.
 *
 * A failure of these functions fails the test. Call them from the main thread
 * only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/netns.h"
#include "support/proxy.h"

#define FOUR_STORES       4
#define QUARTET_TEXT_SIZE 4096

enum fault {
    FAULT_NONE,
    FAULT_REFUSED,   /* nobody listens, connections are reset */
    FAULT_STOPPED,   /* SIGSTOP: accepts connections, but does not answer */
    FAULT_LOST,      /* the firewall drops every packet */
    FAULT_SWALLOWED, /* the proxy does not pass answers on */
    FAULT_DELAYED,   /* each answer is `amount_ms` late */
    FAULT_CUT,       /* each answer is cut by a reset */
    FAULT_FLAPPING,  /* refused and well in turn, `amount_ms` each */
    FAULTS
};

/* "refused", "stopped", ... */
const char *fault_name(enum fault fault);

struct four_stores {
    struct server *servers[FOUR_STORES];
    struct proxy *proxies[FOUR_STORES];
    struct netns *netns; /* NULL: FAULT_LOST is not available */
    enum fault faults[FOUR_STORES];
    char folder[32]; /* The authority's. The four stores have claimed it, so all
                        brokers over them must use the same folder. */
};

/* Skips the test unless redis-server, MariaDB and PostgreSQL are installed. */
void four_stores_start(struct four_stores *stores, bool with_netns,
                       uint64_t seed);

/* Ends the faults and frees the proxies. The servers end with the program. */
void four_stores_end(struct four_stores *stores);

/* Writes the backends and the pool of a topology. Partitions 0 ... 3 are
 * "redis-a", "mysql-a", "redis-b" and "pg-a"; the authority is a file.
 * `settings` is added to the pool. */
void four_stores_topology(const struct four_stores *stores,
                          const char *settings,
                          char out[static QUARTET_TEXT_SIZE]);

/* The name of partition i's backend. */
const char *four_stores_backend(size_t i);

/* Applies a fault, which replaces the previous one. It is in force on return.
 * See enum fault for `amount_ms`. */
void four_stores_fault(struct four_stores *stores, size_t i, enum fault fault,
                       int32_t amount_ms);

/* Ends all faults. */
void four_stores_heal(struct four_stores *stores);
