/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine needs and refuses among a backend's settings. For check.c. */
#pragma once

#include "config/mistakes.h"
#include "config/schema.h"

/* Adds a mistake for each rule of its engine that the backend breaks; an
 * engine of the service may use every setting. */
void engine_check(const struct draft *draft,
                  const struct draft_backend *backend,
                  struct mistakes *mistakes);
