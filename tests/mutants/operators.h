/* SPDX-License-Identifier: Apache-2.0 */
/* The small bugs that are put into functions. */
#pragma once
#include <stdio.h>

#include "mutants/rewrite.h"

/* A tree of clang's, the text it was made of, and where its mutants go: into
 * `rewrite`, and one line each into `list`: number, file, line, function,
 * operator, text, changed text, between tabs. */
struct operators {
    const char *file;
    const char *text;
    struct rewrite *rewrite;
    FILE *list;
    int next; /* number of the next mutant */
};

void operators_apply(struct operators *operators, const json_t *tree);
