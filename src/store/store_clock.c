/* SPDX-License-Identifier: Apache-2.0 */
/* The store's wall clock, as an offset to our boot clock. */
#include "store/store_clock.h"

#include "platform/clock.h"
#include "platform/minmax.h"

/* No broker begins a period that is further ahead of both its own clock and the
 * store's: see max_ahead. */
#define BASE_SLACK_MS (10 * INT64_C(60000))

static void note_wall(struct connection *connection)
{
    const int64_t noted_ms =
        atomic_load_explicit(&connection->wall_ms, memory_order_relaxed);

    atomic_store_explicit(&connection->wall_ms,
                          max_of(noted_ms, clock_wall_ms() - clock_boot_ms()),
                          memory_order_relaxed);
}

/* The answer is about half a round trip old. */
enum seqb_status connection_read_clock(struct connection *connection,
                                       struct seqb_error *err)
{
    const int64_t start_us = clock_now_us();
    int64_t store_ms = 0;
    const enum seqb_status status =
        connection_clock(connection, &store_ms, err);
    const int64_t half_ms = (clock_now_us() - start_us) / 2000;

    if (status != SEQB_OK)
        return status;
    connection->clock_seen_ms = clock_now_ms();
    note_wall(connection);
    if (store_ms > 0)
        atomic_store_explicit(&connection->clock_ms,
                              store_ms + half_ms - clock_boot_ms(),
                              memory_order_relaxed);
    return SEQB_OK;
}

int64_t connection_clock_ahead_ms(const struct connection *connection)
{
    const int64_t clock_ms =
        atomic_load_explicit(&connection->clock_ms, memory_order_relaxed);

    return clock_ms == CONNECTION_NO_CLOCK
               ? CONNECTION_NO_CLOCK
               : clock_ms + clock_boot_ms() - clock_wall_ms();
}

int64_t connection_latest_ms(const struct connection *connection)
{
    const int64_t ahead_ms = connection_clock_ahead_ms(connection);

    return clock_wall_ms() + (ahead_ms > 0 ? ahead_ms : 0);
}

int64_t connection_base_ms(const struct connection *connection,
                           int64_t begins_ms)
{
    const int64_t noted_ms =
        clock_boot_ms() +
        atomic_load_explicit(&connection->wall_ms, memory_order_relaxed);

    return max_of(max_of(connection_latest_ms(connection), noted_ms),
                  begins_ms) +
           BASE_SLACK_MS;
}
