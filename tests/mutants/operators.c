/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what can be mutated in the functions of a tree. Left out: what the
 * compiler needs as a constant, what stands within a macro, and the calls that
 * only a thread sanitizer would miss, or nothing but a clock, or nothing. */
#include "mutants/operators.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct visit {
    struct operators *operators;
    const char *function;
    char returns[128]; /* type */
};

struct swap {
    const char *from;
    const char *to[2];
};

static const struct swap comparisons[] = {
    {"<", {"<=", ">="}}, {"<=", {"<", ">"}}, {">", {">=", "<="}},
    {">=", {">", "<"}},  {"==", {"!="}},     {"!=", {"=="}},
};

static const struct swap arithmetic[] = {
    {"+", {"-"}},   {"-", {"+"}},   {"*", {"/"}},   {"/", {"*"}},
    {"%", {"/"}},   {"<<", {">>"}}, {">>", {"<<"}}, {"&", {"|"}},
    {"|", {"&"}},   {"^", {"&"}},   {"+=", {"-="}}, {"-=", {"+="}},
    {"*=", {"/="}}, {"/=", {"*="}}, {"|=", {"&="}}, {"&=", {"|="}},
    {"&&", {"||"}}, {"||", {"&&"}},
};

/* Kinds of nodes in which nothing may change, or nothing would. */
static const char *const constants[] = {
    "ConstantExpr",     "UnaryExprOrTypeTraitExpr",
    "StaticAssertDecl", "RecordDecl",
    "EnumDecl",         "OffsetOfExpr",
    "StringLiteral",    "GenericSelectionExpr",
    "TypedefDecl",
};

static const char *const unseen_calls[] = {
    "mutex_lock",
    "mutex_unlock",
    "pthread_mutex_init", /* without attributes, of memory that is zero */
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "pthread_mutex_destroy",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_unlock",
    "pthread_rwlock_destroy",
    "__builtin_prefetch", /* a hint, whose arguments are constants */
};

static void visit_any(struct visit *visit, const json_t *node);

static bool is_among(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(word, words[i]) == 0)
            return true;
    }
    return false;
}

static const struct swap *swap_of(const char *opcode, const struct swap *swaps,
                                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(opcode, swaps[i].from) == 0)
            return &swaps[i];
    }
    return NULL;
}

static int line_of(const char *text, size_t offset)
{
    int line = 1;

    for (size_t i = 0; i < offset; i++)
        line += text[i] == '\n';
    return line;
}

__attribute__((format(printf, 4, 5))) static void add(struct visit *visit,
                                                      const struct span *span,
                                                      const char *name,
                                                      const char *format, ...)
{
    struct operators *operators = visit->operators;
    char *original = rewrite_text(operators->rewrite, span);
    char *changed = NULL;
    va_list list;

    va_start(list, format);
    if (vasprintf(&changed, format, list) < 0)
        exit(EXIT_FAILURE);
    va_end(list);
    (void)fprintf(operators->list, "%d\t%s\t%d\t%s\t%s\t%s\t%s\n",
                  operators->next++, operators->file,
                  line_of(operators->text, span->begin), visit->function, name,
                  original, changed);
    rewrite_add(operators->rewrite, span, changed);
    free(original);
}

/* The text of a node; NULL if it has no place of its own. */
static char *text_at(const struct visit *visit, const json_t *node)
{
    struct span span;

    if (!ast_span_of_macro(node, visit->operators->text, &span))
        return NULL;
    return rewrite_text(visit->operators->rewrite, &span);
}

static bool is_pointer(const json_t *node)
{
    return strpbrk(ast_type(node), "*[(") != NULL;
}

static void add_swaps(struct visit *visit, const json_t *node,
                      const struct swap *swap, const char *name)
{
    char *left = text_at(visit, ast_child(node, 0));
    char *right = text_at(visit, ast_child(node, 1));
    struct span span;

    if (left != NULL && right != NULL &&
        ast_span(node, visit->operators->text, &span)) {
        for (size_t i = 0; i < 2 && swap->to[i] != NULL; i++)
            add(visit, &span, name, "%s %s %s", left, swap->to[i], right);
    }
    free(left);
    free(right);
}

static bool is_logic(const json_t *node)
{
    return ast_says(node, "opcode", "&&") || ast_says(node, "opcode", "||");
}

static void visit_binary(struct visit *visit, const json_t *node)
{
    const char *opcode = ast_opcode(node);
    const struct swap *swap =
        swap_of(opcode, comparisons, sizeof comparisons / sizeof *comparisons);

    if (swap != NULL) {
        add_swaps(visit, node, swap, "comparison");
        return;
    }
    if (!is_logic(node) &&
        (is_pointer(ast_child(node, 0)) || is_pointer(ast_child(node, 1))))
        return;
    swap = swap_of(opcode, arithmetic, sizeof arithmetic / sizeof *arithmetic);
    if (swap != NULL)
        add_swaps(visit, node, swap, is_logic(node) ? "logic" : "arithmetic");
}

static bool is_comparison(const json_t *node)
{
    return swap_of(ast_opcode(node), comparisons,
                   sizeof comparisons / sizeof *comparisons) != NULL;
}

/* Negates what is true or false; comparisons are swapped by themselves, and the
 * sides of && and || and what is under a ! have their own turn. */
static void negate(struct visit *visit, const json_t *node)
{
    const json_t *bare = ast_bare(node);
    struct span span;
    char *text;

    if (is_logic(bare) || is_comparison(bare) || ast_says(bare, "opcode", "!"))
        return;
    if (!ast_span_of_macro(node, visit->operators->text, &span))
        return;
    text = rewrite_text(visit->operators->rewrite, &span);
    add(visit, &span, "negation", "!(%s)", text);
    free(text);
}

static const char *callee(const json_t *call)
{
    const json_t *function = ast_bare(ast_child(call, 0));
    const json_t *declaration = json_object_get(function, "referencedDecl");

    return declaration != NULL ? ast_name(declaration) : ast_name(function);
}

static bool is_unseen(const json_t *call)
{
    return is_among(callee(call), unseen_calls,
                    sizeof unseen_calls / sizeof *unseen_calls);
}

static bool is_field(const json_t *node)
{
    node = ast_bare(node);
    return ast_is(node, "MemberExpr") || ast_is(node, "ArraySubscriptExpr") ||
           ast_says(node, "opcode", "*");
}

/* A call or the assignment to a field that is a whole statement. */
static void visit_statement(struct visit *visit, const json_t *node)
{
    const json_t *inner = node;
    const char *name = "assignment removed";
    struct span span;

    if (ast_is(inner, "CStyleCastExpr"))
        inner = ast_bare(ast_child(inner, 0));
    if (ast_is(inner, "CallExpr")) {
        name = "call removed";
        if (is_unseen(inner))
            return;
    } else if (!ast_says(node, "opcode", "=") ||
               !is_field(ast_child(node, 0))) {
        return;
    }
    if (ast_span(node, visit->operators->text, &span))
        add(visit, &span, name, "(void)0");
}

static void add_return(struct visit *visit, const json_t *value)
{
    const char *type = visit->returns;
    struct span span;
    char *text;

    if (!ast_span_of_macro(value, visit->operators->text, &span))
        return;
    text = rewrite_text(visit->operators->rewrite, &span);
    if (strcmp(type, "enum seqb_status") == 0) {
        if (strcmp(text, "SEQB_OK") == 0)
            add(visit, &span, "return", "SEQB_UNREACHABLE");
        else
            add(visit, &span, "return", "(void)(%s), SEQB_OK", text);
    } else if (strchr(type, '*') != NULL) {
        if (strcmp(text, "NULL") != 0)
            add(visit, &span, "return", "(void)(%s), (void *)0", text);
    } else if (strncmp(type, "struct ", 7) != 0 &&
               !ast_is(ast_bare(value), "CompoundLiteralExpr") &&
               !ast_is(ast_bare(value), "BinaryOperator") &&
               !ast_is(ast_bare(value), "IntegerLiteral")) {
        add(visit, &span, "return", "(%s) + 1", text);
    }
    free(text);
}

static void visit_return(struct visit *visit, const json_t *node)
{
    const json_t *value = ast_child(node, 0);

    if (value == NULL)
        return;
    if (strcmp(visit->returns, "_Bool") == 0 ||
        strcmp(visit->returns, "bool") == 0)
        negate(visit, value);
    else
        add_return(visit, value);
}

static void visit_unary(struct visit *visit, const json_t *node)
{
    const char *opcode = ast_opcode(node);
    bool is_step = strcmp(opcode, "++") == 0 || strcmp(opcode, "--") == 0;
    const char *other = opcode[0] == '+' ? "--" : "++";
    struct span span;
    char *text;

    if (strcmp(opcode, "!") == 0)
        negate(visit, ast_child(node, 0));
    if (!is_step || is_pointer(node) ||
        !ast_span(node, visit->operators->text, &span))
        return;
    text = text_at(visit, ast_child(node, 0));
    if (json_is_true(json_object_get(node, "isPostfix")))
        add(visit, &span, "arithmetic", "%s%s", text, other);
    else
        add(visit, &span, "arithmetic", "%s%s", other, text);
    free(text);
}

static void visit_literal(struct visit *visit, const json_t *node)
{
    struct span span;
    char *text;

    if (!ast_span(node, visit->operators->text, &span))
        return;
    text = rewrite_text(visit->operators->rewrite, &span);
    add(visit, &span, "constant", "%s + 1", text);
    free(text);
}

/* The place of the condition among a statement's children; -1: it has none. */
static int condition_of(const json_t *node)
{
    if (ast_is(node, "IfStmt") || ast_is(node, "WhileStmt") ||
        ast_is(node, "ConditionalOperator"))
        return 0;
    if (ast_is(node, "DoStmt"))
        return 1;
    return ast_is(node, "ForStmt") ? 2 : -1;
}

static bool is_body(const json_t *node, size_t child)
{
    if (ast_is(node, "CompoundStmt") || ast_is(node, "DefaultStmt"))
        return true;
    if (ast_is(node, "DoStmt"))
        return child == 0;
    if (ast_is(node, "IfStmt") || ast_is(node, "WhileStmt") ||
        ast_is(node, "CaseStmt") || ast_is(node, "SwitchStmt"))
        return child > 0;
    return ast_is(node, "ForStmt") && child == 4;
}

static void visit_children(struct visit *visit, const json_t *node)
{
    int condition = condition_of(node);
    bool is_loop = ast_is(node, "ForStmt");

    for (size_t i = 0; i < ast_count(node); i++) {
        const json_t *child = ast_child(node, i);

        if ((int)i == condition || is_logic(node))
            negate(visit, child);
        if (is_body(node, i))
            visit_statement(visit, child);
        /* A loop that steps the other way is always found, and late. */
        if (!is_loop || i != 3 || !ast_is(child, "UnaryOperator"))
            visit_any(visit, child);
    }
}

static void visit_any(struct visit *visit, const json_t *node)
{
    const char *kind = ast_kind(node);
    struct span span;

    if (!ast_span(node, visit->operators->text, &span) ||
        is_among(kind, constants, sizeof constants / sizeof *constants) ||
        ast_says(node, "storageClass", "static") ||
        ast_says(node, "castKind", "NullToPointer") ||
        (ast_is(node, "CallExpr") && is_unseen(node)))
        return;
    if (ast_is(node, "BinaryOperator") ||
        ast_is(node, "CompoundAssignOperator"))
        visit_binary(visit, node);
    else if (ast_is(node, "UnaryOperator"))
        visit_unary(visit, node);
    else if (ast_is(node, "ReturnStmt"))
        visit_return(visit, node);
    else if (ast_is(node, "IntegerLiteral"))
        visit_literal(visit, node);
    visit_children(visit, node);
}

static void visit_function(struct operators *operators, const json_t *node)
{
    struct visit visit = {operators, ast_name(node), ""};
    const char *type = ast_type(node);
    size_t size = strcspn(type, "(");

    if (size >= sizeof visit.returns)
        return;
    memcpy(visit.returns, type, size);
    while (size > 0 && visit.returns[size - 1] == ' ')
        size--;
    visit.returns[size] = '\0';
    for (size_t i = 0; i < ast_count(node); i++) {
        if (ast_is(ast_child(node, i), "CompoundStmt"))
            visit_children(&visit, ast_child(node, i));
    }
}

void operators_apply(struct operators *operators, const json_t *tree)
{
    for (size_t i = 0; i < ast_count(tree); i++) {
        const json_t *node = ast_child(tree, i);

        if (ast_is(node, "FunctionDecl") && ast_is_here(node))
            visit_function(operators, node);
    }
}
