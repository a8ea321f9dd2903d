/* SPDX-License-Identifier: Apache-2.0 */
/* A C file in which expressions have mutants: each becomes
 * `(mutant(N) ? (changed) : (as it was))`. Mutants may be nested, since only
 * one is on at a time: the changed one is made of the file's own text. */
#pragma once
#include <stdio.h>

#include "mutants/ast.h"

struct rewrite;

/* FIRST: the number of the first mutant. NULL if there is no memory. */
struct rewrite *rewrite_new(const char *text, int first);
void rewrite_free(struct rewrite *rewrite);

/* Gives the expression in a span a mutant, which is freed here. */
void rewrite_add(struct rewrite *rewrite, const struct span *span,
                 char *changed);

/* The text of a span in one line, without its comments; the caller frees it. */
char *rewrite_text(const struct rewrite *rewrite, const struct span *span);

/* Writes the file with its mutants. */
void rewrite_write(struct rewrite *rewrite, FILE *out);
