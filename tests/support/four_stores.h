/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Four private stores of three kinds, each behind a fault proxy, the proxies
 * where a firewall stands before them if a network namespace can be made; and
 * the faults that befall any of them while a broker runs.
 *
 * What must not fail here fails the test; for its main thread alone.
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
    FAULT_STOPPED,   /* SIGSTOP: accepts, and answers nothing */
    FAULT_LOST,      /* the firewall drops every packet */
    FAULT_SWALLOWED, /* the proxy answers nothing */
    FAULT_DELAYED,   /* each answer so many ms later */
    FAULT_CUT,       /* each answer is reset in its midst */
    FAULT_FLAPPING,  /* refused and well in turn, so many ms each */
    FAULTS
};

/* "refused", "stopped", ... */
const char *fault_name(enum fault fault);

struct four_stores {
    struct server *servers[FOUR_STORES];
    struct proxy *proxies[FOUR_STORES];
    struct netns *netns; /* NULL: there is no FAULT_LOST */
    enum fault faults[FOUR_STORES];
    char folder[32]; /* of the authority: the four know it, so that all brokers
                        over them need it */
};

/* Needs redis-server, MariaDB and PostgreSQL, or skips the test. */
void four_stores_start(struct four_stores *stores, bool with_netns,
                       uint64_t seed);

/* Ends the faults and the proxies; the servers end with the program. */
void four_stores_end(struct four_stores *stores);

/* The backends and the pool of a topology: partitions 0 ... 3 are "redis-a",
 * "mysql-a", "redis-b" and "pg-a", the authority is a file; `settings` end the
 * pool. */
void four_stores_topology(const struct four_stores *stores,
                          const char *settings,
                          char out[static QUARTET_TEXT_SIZE]);

/* The name of partition i's backend. */
const char *four_stores_backend(size_t i);

/* In force on return; ends the fault before. `amount_ms` as at the faults. */
void four_stores_fault(struct four_stores *stores, size_t i, enum fault fault,
                       int32_t amount_ms);

/* Ends all faults. */
void four_stores_heal(struct four_stores *stores);
