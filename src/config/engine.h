/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine needs and refuses among a backend's settings. For check.c. */
#pragma once

#include <stdbool.h>

#include "config/mistakes.h"
#include "config/schema.h"

/* A snowflake of ours, and the bits that its values have. */
bool engine_is_snowflake(const struct draft_backend *backend);
int engine_snowflake_bits(const struct draft_backend *backend);

/* Adds a mistake for each rule of its engine that the backend breaks; an
 * engine of the service may use every setting. */
void engine_check(const struct draft *draft,
                  const struct draft_backend *backend,
                  struct mistakes *mistakes);
