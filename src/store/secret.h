/* SPDX-License-Identifier: Apache-2.0 */
/* A secret that stands in a file of its own. */
#pragma once

#include <stdbool.h>

#include <seqbroker/status.h>

/*
 * Reads a file that must hold one line, `what` ("password"), and be its owner's
 * alone. `*out` is for secret_free. SEQB_REFUSED with the reason, which holds
 * nothing of the file: absent, not readable, more than a line, readable by
 * others.
 */
enum seqb_status secret_read(const char *path, const char *what, char **out,
                             struct seqb_error *err);

/* Overwrites it before. Takes NULL. */
void secret_free(char *text);

/* Whether nobody but its owner has a right on the file. One that cannot be
 * looked at is: who opens it learns why. */
bool secret_is_private(const char *path);
