/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows what a new SQL engine needs: a second SQLite engine, all of whose
 * grants use the shared rule and its two round trips (backends/sql/sql.h).
 * Unlike the real engine, it does not detect that content went back within the
 * file.
 */
#pragma once

#include <seqbroker/backend.h>

extern const struct seqb_backend_ops backend_plain_sqlite;
