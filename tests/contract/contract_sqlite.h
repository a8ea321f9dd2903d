/* SPDX-License-Identifier: Apache-2.0 */
/* The contract suite for engines over a file of SQLite. */
#pragma once

#include <seqbroker/backend.h>

/* Runs it; to be returned from main. */
int contract_sqlite(const char *name, const struct seqb_backend_ops *ops);
