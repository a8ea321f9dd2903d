/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets in files of their own. */
#pragma once

#include <stdbool.h>

#include <seqbroker/status.h>

/*
 * Reads a file that must have one line, `what` ("password"), and must be
 * accessible to its owner only. Free `*out` with secret_free. SEQB_REFUSED with
 * the reason, which quotes nothing of the file: it is missing, not readable,
 * has more than one line, or others may read it.
 */
enum seqb_status secret_read(const char *path, const char *what, char **out,
                             struct seqb_error *err);

/* Overwrites the text, then frees it. NULL is allowed. */
void secret_free(char *text);

/* Whether only its owner has rights on the file. True also if stat() fails:
 * opening the file then reports why. */
bool secret_is_private(const char *path);
