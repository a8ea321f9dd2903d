/* SPDX-License-Identifier: Apache-2.0 */
/* What is shown of the lessors of a pool with neighbours. A part of ha.h. */
#pragma once

#include <stdint.h>

/* The state of a lessor of a pool with neighbours, as this broker knows it. */
enum ha_lessor_state {
    HA_LESSOR_UNKNOWN, /* not read yet, or it cannot be asked */
    HA_LESSOR_LEVEL,   /* it may lease */
    HA_LESSOR_SYNCING, /* it was restarted or away, and is being made level */
    HA_LESSOR_WAITING  /* the same, but another store cannot be asked */
};

/* The names live as long as the ha. */
struct ha_lessor {
    const char *pool;
    const char *backend;
    const char *waits_for; /* the backend that cannot be asked; NULL: none */
    int32_t partition;
    enum ha_lessor_state state;
    int64_t since_ms;          /* time in that state */
    int64_t leases_per_minute; /* by this broker, in the last minute */
};
