/* SPDX-License-Identifier: Apache-2.0 */
/* The wall clock of a connection's store. */
#pragma once

#include "platform/clock.h"
#include "store/connection.h"

#define CLOCK_READ_MS 30000 /* between two reads of a store's clock */

/* Reads the store's wall clock; whether the next read is due. */
enum seqb_status connection_read_clock(struct connection *connection,
                                       struct seqb_error *err);
static inline bool connection_clock_is_due(const struct connection *connection)
{
    return clock_now_ms() - connection->clock_seen_ms >= CLOCK_READ_MS;
}

/* Any thread: the store's wall clock minus ours, ms, or CONNECTION_NO_CLOCK;
 * and the later time of both clocks. */
int64_t connection_clock_ahead_ms(const struct connection *connection);
int64_t connection_latest_ms(const struct connection *connection);

/* Any thread: no period that any broker has begun so far begins after this
 * time. `begins_ms`: the begin of one that has begun, or 0. Our wall clock may
 * have gone back since the connection was opened. */
int64_t connection_base_ms(const struct connection *connection,
                           int64_t begins_ms);
