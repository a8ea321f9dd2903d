/* SPDX-License-Identifier: Apache-2.0 */
/* Small values have a bucket each; above, each power of two has 32. */
#include "support/latency.h"

#include <string.h>

#define SUB ((int64_t)1 << LATENCY_SUB_BITS)

static int bucket_of(int64_t ns)
{
    int shift;

    if (ns < SUB)
        return (int)ns;
    shift = 63 - __builtin_clzll((unsigned long long)ns) - LATENCY_SUB_BITS;
    return (int)(shift * SUB + (ns >> shift));
}

/* The largest value that the bucket counts. */
static int64_t bucket_end(int bucket)
{
    const int64_t shift = bucket / SUB - 1;

    if (shift < 1)
        return bucket;
    return ((bucket % SUB + SUB + 1) << shift) - 1;
}

void latency_init(struct latency *latency)
{
    memset(latency, 0, sizeof *latency);
}

void latency_add(struct latency *latency, int64_t ns)
{
    const int64_t value = ns > 0 ? ns : 0;

    latency->buckets[bucket_of(value)]++;
    latency->count++;
    if (value > latency->max_ns)
        latency->max_ns = value;
}

void latency_add_paced(struct latency *latency, int64_t ns, int64_t interval_ns)
{
    latency_add(latency, ns);
    if (interval_ns <= 0)
        return;
    for (ns -= interval_ns; ns >= interval_ns; ns -= interval_ns)
        latency_add(latency, ns);
}

void latency_merge(struct latency *latency, const struct latency *other)
{
    for (int i = 0; i < LATENCY_BUCKETS; i++)
        latency->buckets[i] += other->buckets[i];
    latency->count += other->count;
    if (other->max_ns > latency->max_ns)
        latency->max_ns = other->max_ns;
}

int64_t latency_at(const struct latency *latency, double share)
{
    const double wanted = share * (double)latency->count;
    int64_t seen = 0;

    for (int i = 0; i < LATENCY_BUCKETS; i++) {
        seen += latency->buckets[i];
        if (seen > 0 && (double)seen >= wanted) {
            const int64_t end = bucket_end(i);

            return end < latency->max_ns ? end : latency->max_ns;
        }
    }
    return 0;
}
