/* SPDX-License-Identifier: Apache-2.0 */
/* Rings with memory of their own, for tests without a queue. */
#pragma once

#include <assert.h>

#include "platform/thread.h"
#include "queue/ring.h"

static inline struct ring *ring_make(uint32_t segments, int32_t memory_bits,
                                     int32_t partition_bits)
{
    void *memory = fork_wiped_new(ring_size(segments));

    assert(memory != NULL);
    return ring_init(memory, segments, memory_bits, partition_bits);
}

static inline void ring_unmake(struct ring *ring, uint32_t segments)
{
    fork_wiped_free(ring, ring_size(segments));
}
