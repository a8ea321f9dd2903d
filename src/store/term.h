/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A *term* of a lessor: from when the lessor is made level to its next start,
 * or until a copy of its store leases in its place. A term is named by the
 * store's incarnation. If another store leased since the incarnation began, a
 * nonce precedes it, NONCE~INCARNATION, so that no term's name is used twice.
 * Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/backend.h>

#define TERM_NONCE_SIZE 24
#define TERM_SIZE       (SEQB_INCARNATION_SIZE + TERM_NONCE_SIZE)

/* The begin of the nonce of a term that an operator began with seqb_trust: what
 * others know of earlier terms then does not mean that a copy has leased. */
#define TERM_TRUSTED "trusted"

/* First character of `synced` while the lessor is being made level; the term
 * follows. That text is no term, so nothing is leased. */
#define TERM_BEGUN "-"

/* Whether `text` names a term of that incarnation. `nonce` is the term's nonce,
 * "" if it has none. */
bool term_read(const char *text, const char *incarnation,
               char nonce[static TERM_NONCE_SIZE]);

/* Whether a lessor's mark, which is its term, a "|" and more, is of another
 * term than `term`; false if there is no mark (""). */
bool term_is_over(const char *term, const char *mark);

/* Make a nonce from random bits; the second of a term that an operator
 * begins. */
void term_nonce(uint64_t random, char nonce[static TERM_NONCE_SIZE]);
void term_trust(uint64_t random, char nonce[static TERM_NONCE_SIZE]);

/* Whether the nonce is that of a term that an operator began. */
bool term_is_trusted(const char *nonce);
