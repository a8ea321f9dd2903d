/* SPDX-License-Identifier: Apache-2.0 */
/* A source as a draft, by the table of settings: the only file that knows
 * libconfig. What a value means beside others is left to check.c. */
#pragma once

#include "config/arena.h"
#include "config/mistakes.h"
#include "config/schema.h"

/* Reads the text of a source that was scanned. Every setting of the draft
 * holds its value or its default; mistakes are added. False if there is no
 * draft: the text is no libconfig. */
bool read_draft(const char *text, struct arena *arena,
                struct mistakes *mistakes, struct draft *draft);

/* "libconfig 1.5". Static. */
const char *read_library(void);
