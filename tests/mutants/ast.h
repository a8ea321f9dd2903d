/* SPDX-License-Identifier: Apache-2.0 */
/* What clang's -ast-dump=json says of a C file: nodes, as jansson holds them,
 * and where they stand in the file's text. NULL is a node of no kind. */
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct span {
    size_t begin;
    size_t end;
};

const char *ast_kind(const json_t *node);   /* "" if it has none */
const char *ast_name(const json_t *node);   /* "" if it has none */
const char *ast_opcode(const json_t *node); /* "" if it has none */
const char *ast_type(const json_t *node);   /* "" if it has none */
bool ast_is(const json_t *node, const char *kind);
bool ast_says(const json_t *node, const char *name, const char *value);

size_t ast_count(const json_t *node);
const json_t *ast_child(const json_t *node, size_t index);

/* The node within parentheses and casts that are not written. */
const json_t *ast_bare(const json_t *node);

/* Whether its declaration stands in the file itself, not in a header. */
bool ast_is_here(const json_t *node);

/* Where a node stands. False if that is not in the file, or within one use of
 * a macro. */
bool ast_span(const json_t *node, const char *text, struct span *out);

/* The same, but the whole use of a macro is a place too. */
bool ast_span_of_macro(const json_t *node, const char *text, struct span *out);
