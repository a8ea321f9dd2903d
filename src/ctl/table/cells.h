/* SPDX-License-Identifier: Apache-2.0 */
/* A field of a map as the text of a cell. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <hiredis/hiredis.h>

#include "status/status.h"

struct cell_style {
    bool name_pool; /* of a partition, since there are several pools */
    bool is_short;  /* counts of 8 digits and more as 12.3M */
};

void cell_format(char *to, size_t size, const struct status_field *field,
                 const redisReply *map, const struct cell_style *style);

/* "main/2", "2" or "authority". */
void partition_format(char *to, size_t size, const redisReply *map,
                      bool name_pool);

/* Why a partition is not up, or what it may lose although it is up; "":
 * nothing. */
void why_format(char *to, size_t size, const redisReply *map);
