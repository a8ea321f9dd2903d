/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a cluster that lost a member was away for a broker: until it elected
 * another one, or gave that one up, and the rest, which is the broker's.
 * Failures fail the test.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

#include "scene.h"

struct election {
    void (*await)(void);
    pthread_t thread;
    int64_t killed_ms;
    int64_t ended_ms;
};

/* To be called when the member was killed. `await` returns as soon as the
 * cluster itself serves again; it runs in a thread. */
void election_begin(struct election *election, void (*await)(void));

/* How many numbers of "order", the only sequence in use, the broker holds. */
int64_t election_stock(const struct scene *scene);

/* Call it when the member was killed. Takes numbers of
 * "order" by seqb_try_next, one in a ms, while the broker holds any, until both
 * partitions have granted more. Fails if a take was refused. Returns the
 * longest take in ms. */
int64_t election_take(struct scene *scene, int32_t cluster, int32_t other);

/* To be called when the partition has granted again, and serves. Prints both
 * parts. */
void election_end(struct election *election, const char *cluster,
                  int64_t longest_call_ms);
