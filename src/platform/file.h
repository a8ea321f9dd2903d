/* SPDX-License-Identifier: Apache-2.0 */
/* Files and folders: what the library reads and makes besides its stores. */
#pragma once

#include <stddef.h>

#include <seqbroker/status.h>

/* Reads a whole file of at most `max` bytes, a 0 after it. `*out` is the
 * caller's to free. SEQB_INVALID with the reason: absent, not readable, a
 * folder, too large. */
enum seqb_status file_read(const char *path, size_t max, char **out,
                           struct seqb_error *err);

/* Makes a folder and its parents (mode 0700) where absent, and checks that
 * files can be made in it. SEQB_STATE_DIR with the reason. */
enum seqb_status file_make_folder(const char *path, struct seqb_error *err);
