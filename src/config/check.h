/* SPDX-License-Identifier: Apache-2.0 */
/* The rules between settings, all of them: what the reader cannot see in one
 * value, and what needs no file to be known. */
#pragma once

#include "config/mistakes.h"
#include "config/schema.h"

/* Adds a mistake for every rule broken. Values that were reported as wrong
 * already break none. */
void check_draft(const struct draft *draft, struct mistakes *mistakes);
