/* SPDX-License-Identifier: Apache-2.0 */
/* The secrets of a topology: whence a backend's password and a shuffle's key
 * come, and that nobody but the owner can read where they stand. No message
 * ever holds one. */
#pragma once

#include "config/mistakes.h"
#include "config/scan.h"
#include "config/schema.h"
#include "number/number.h"

struct secret_reader {
    const char *folder; /* of the topology */
    const struct source *source;
    struct mistakes *mistakes;
};

/* The backend's password out of its file, the environment or the topology;
 * NULL if it has none, or a mistake. */
const char *secret_password(const struct secret_reader *reader,
                            const struct draft_backend *backend);

/* Adds a mistake if others may read what else of the backend is secret: a
 * text that holds a password, the key of a certificate. */
void secret_check(const struct secret_reader *reader,
                  const struct draft_backend *backend);

/* The key that a file holds; false and a mistake if it holds none. */
bool secret_shuffle_key(const struct secret_reader *reader,
                        const struct draft_text *file, struct shuffle_key *out);
