/* SPDX-License-Identifier: Apache-2.0 */
/* What an engine needs and refuses among a backend's settings. For check.c. */
#pragma once

#include <seqbroker/backend.h>

#include "config/mistakes.h"
#include "config/schema.h"

/* The backend's engine, NULL if it is not built in or not known. */
const struct seqb_backend_ops *engine_find(const struct draft_backend *backend);

/* Adds a mistake for each rule of its engine that the backend breaks. */
void engine_check(const struct draft_backend *backend,
                  struct mistakes *mistakes);
