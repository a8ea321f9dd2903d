/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of clang's tree and their places. A place in the expansion of a macro
 * is that of the macro's use. */
#include "mutants/ast.h"

#include <ctype.h>
#include <string.h>

static const char *member(const json_t *node, const char *name)
{
    const char *value = json_string_value(json_object_get(node, name));

    return value == NULL ? "" : value;
}

const char *ast_kind(const json_t *node)
{
    return member(node, "kind");
}

const char *ast_name(const json_t *node)
{
    return member(node, "name");
}

const char *ast_opcode(const json_t *node)
{
    return member(node, "opcode");
}

const char *ast_type(const json_t *node)
{
    return member(json_object_get(node, "type"), "qualType");
}

bool ast_is(const json_t *node, const char *kind)
{
    return strcmp(ast_kind(node), kind) == 0;
}

bool ast_says(const json_t *node, const char *name, const char *value)
{
    return strcmp(member(node, name), value) == 0;
}

size_t ast_count(const json_t *node)
{
    return json_array_size(json_object_get(node, "inner"));
}

const json_t *ast_child(const json_t *node, size_t index)
{
    return json_array_get(json_object_get(node, "inner"), index);
}

const json_t *ast_bare(const json_t *node)
{
    while (ast_is(node, "ParenExpr") || ast_is(node, "ImplicitCastExpr"))
        node = ast_child(node, 0);
    return node;
}

static bool is_macro(const json_t *place)
{
    return json_object_get(place, "expansionLoc") != NULL;
}

/* Where a macro is used, if the place is in one. */
static const json_t *used(const json_t *place)
{
    return is_macro(place) ? json_object_get(place, "expansionLoc") : place;
}

static bool is_in_file(const json_t *place)
{
    place = used(place);
    return json_object_get(place, "offset") != NULL &&
           json_object_get(place, "includedFrom") == NULL;
}

bool ast_is_here(const json_t *node)
{
    return is_in_file(json_object_get(node, "loc"));
}

static size_t offset_of(const json_t *place)
{
    return (size_t)json_integer_value(json_object_get(used(place), "offset"));
}

/* The end of the arguments that follow a macro's name, if any do. */
static size_t arguments_end(const char *text, size_t at)
{
    size_t depth = 0;
    size_t end = at;

    while (isspace((unsigned char)text[end]))
        end++;
    if (text[end] != '(')
        return at;
    for (; text[end] != '\0'; end++) {
        depth += text[end] == '(';
        depth -= text[end] == ')';
        if (depth == 0)
            return end + 1;
    }
    return at;
}

static size_t end_of(const json_t *place, const char *text)
{
    size_t end = offset_of(place) + (size_t)json_integer_value(
                                        json_object_get(used(place), "tokLen"));

    return is_macro(place) ? arguments_end(text, end) : end;
}

bool ast_span_of_macro(const json_t *node, const char *text, struct span *out)
{
    const json_t *range = json_object_get(node, "range");
    const json_t *begin = json_object_get(range, "begin");
    const json_t *end = json_object_get(range, "end");

    if (!is_in_file(begin) || !is_in_file(end))
        return false;
    out->begin = offset_of(begin);
    out->end = end_of(end, text);
    return out->begin < out->end;
}

bool ast_span(const json_t *node, const char *text, struct span *out)
{
    const json_t *range = json_object_get(node, "range");
    const json_t *begin = json_object_get(range, "begin");
    const json_t *end = json_object_get(range, "end");

    if (is_macro(begin) && is_macro(end) && offset_of(begin) == offset_of(end))
        return false;
    return ast_span_of_macro(node, text, out);
}
