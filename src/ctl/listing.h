/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers, or texts, that were taken, on stdout as they come: one a line, or
 * as strings of one JSON object. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <hiredis/hiredis.h>

#include "ctl/ctl.h"

struct listing {
    const char *command; /* whose answers they are */
    bool is_json;
    int64_t printed;
};

/* An answer of `count`, each with the stamp before it unless that is NULL.
 * CTL_FAILED if it is none, which is told, or if stdout does not take it. */
enum ctl_exit listing_add(struct listing *listing, const redisReply *stamp,
                          const redisReply *items, int64_t count);

/* What was printed is whole then, however the taking ended. */
void listing_end(const struct listing *listing);
