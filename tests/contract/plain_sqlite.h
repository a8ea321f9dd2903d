/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a new SQL engine takes: SQLite once more, whose every grant goes through
 * the shared rule and its two round trips (backends/sql/sql.h). It does not see
 * content that went back within the file, as the real one does.
 */
#pragma once

#include <seqbroker/backend.h>

extern const struct seqb_backend_ops backend_plain_sqlite;
