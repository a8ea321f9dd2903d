/* SPDX-License-Identifier: Apache-2.0 */
/* The contract suite for engines that use a SQLite file. */
#pragma once

#include <seqbroker/backend.h>

/* Runs it; returns what main returns. */
int contract_sqlite(const char *name, const struct seqb_backend_ops *ops);
