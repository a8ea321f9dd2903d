/* SPDX-License-Identifier: Apache-2.0 */
/* A cell in a SQLite file, for tests of the file's incarnation. */
#pragma once

#include "contract/sqlite_case.h"

#define CELL      SEQB_CELL ORDER
#define CELL_SIZE 1000 /* of its windows */

/* Puts the window into the cell. */
void sqlite_cell_install(struct seqb_backend *backend, int64_t window);

/* Takes one offset, which must be `first`, or must get that status. */
void sqlite_cell_expect(struct seqb_backend *backend, enum seqb_status status,
                        int64_t first);

/* A broker that installs window 1 and takes from it, and ends. */
void sqlite_cell_use(const struct sqlite_files *files);

/* Opens the file with its incarnation. */
struct seqb_backend *sqlite_cell_open_known(const struct sqlite_files *files);
