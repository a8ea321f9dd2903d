/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A *term* of a lessor: from when it is made level to its next start, or until
 * a copy of it leases in its place. It is named by the store's incarnation, and
 * by a nonce before that if another store leased since the incarnation began,
 * so that no term comes back: NONCE~INCARNATION. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/backend.h>

#define TERM_NONCE_SIZE 24
#define TERM_SIZE       (SEQB_INCARNATION_SIZE + TERM_NONCE_SIZE)

/* Of a term that an operator's word began: what others know of earlier ones is
 * no sign that a copy leased since. */
#define TERM_TRUSTED "trusted~"

/* Whether `text` names a term of that incarnation; its nonce, "" if it has
 * none. */
bool term_read(const char *text, const char *incarnation,
               char nonce[static TERM_NONCE_SIZE]);

/* Whether a mark of a lessor, its term and what follows a "|", is of another
 * term; "" is no mark. */
bool term_is_over(const char *term, const char *mark);

/* The nonce of such bits, by chance. */
void term_nonce(uint64_t random, char nonce[static TERM_NONCE_SIZE]);
