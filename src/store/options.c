/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of a store's options, which outlive the topology that they came
 * from. */
#include "store/options.h"

#include <stdlib.h>
#include <string.h>

#include "store/secret.h"

/* The members that are texts. */
static const size_t texts[] = {
    offsetof(struct store_options, password_file),
    offsetof(struct store_options, sentinel_password_file),
    offsetof(struct store_options, options.name),
    offsetof(struct store_options, options.path),
    offsetof(struct store_options, options.host),
    offsetof(struct store_options, options.socket_path),
    offsetof(struct store_options, options.user),
    offsetof(struct store_options, options.password),
    offsetof(struct store_options, options.database),
    offsetof(struct store_options, options.prefix),
    offsetof(struct store_options, options.conninfo),
    offsetof(struct store_options, options.table_format),
    offsetof(struct store_options, options.master_name),
    offsetof(struct store_options, options.tls_ca),
    offsetof(struct store_options, options.tls_cert),
    offsetof(struct store_options, options.tls_key),
    offsetof(struct store_options, options.parameters),
    offsetof(struct store_options, options.sentinel_user),
    offsetof(struct store_options, options.sentinel_password),
};

#define TEXTS (sizeof texts / sizeof texts[0])

static const char **text_at(struct store_options *options, size_t i)
{
    return (const char **)((char *)options + texts[i]);
}

static const char *text_of(const struct store_options *options, size_t i)
{
    return *(const char *const *)((const char *)options + texts[i]);
}

static bool is_same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool is_same_list(const char *const *a, const char *const *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    for (; *a != NULL && *b != NULL; a++, b++) {
        if (strcmp(*a, *b) != 0)
            return false;
    }
    return *a == *b;
}

bool store_options_equal(const struct store_options *a,
                         const struct store_options *b)
{
    const struct seqb_backend_options *x = &a->options;
    const struct seqb_backend_options *y = &b->options;

    for (size_t i = 0; i < TEXTS; i++) {
        if (!is_same_text(text_of(a, i), text_of(b, i)))
            return false;
    }
    return a->ops == b->ops && is_same_list(x->sentinels, y->sentinels) &&
           is_same_list(x->endpoints, y->endpoints) &&
           x->keep_rows == y->keep_rows && x->tls == y->tls &&
           x->port == y->port && x->timeout_ms == y->timeout_ms &&
           x->connect_timeout_ms == y->connect_timeout_ms &&
           x->accept_loss == y->accept_loss &&
           x->auto_create == y->auto_create &&
           x->needs_incarnation == y->needs_incarnation;
}

static void list_free(const char *const *list)
{
    for (const char *const *at = list; at != NULL && *at != NULL; at++)
        free((char *)*at);
    free((void *)list);
}

/* Copies a list with the NULL at its end; NULL when out of memory. */
static const char *const *list_copy(const char *const *list)
{
    size_t count = 0;
    const char **copy;

    while (list[count] != NULL)
        count++;
    copy = calloc(count + 1, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < count; i++) {
        copy[i] = strdup(list[i]);
        if (copy[i] == NULL) {
            list_free(copy);
            return NULL;
        }
    }
    return copy;
}

struct store_options *store_options_copy(const struct store_options *from)
{
    struct store_options *copy = malloc(sizeof *copy);
    bool is_whole = true;

    if (copy == NULL)
        return NULL;
    *copy = *from;
    for (size_t i = 0; i < TEXTS; i++) {
        const char *text = text_of(from, i);

        *text_at(copy, i) = text == NULL ? NULL : strdup(text);
        is_whole = is_whole && (text == NULL || *text_at(copy, i) != NULL);
    }
    if (from->options.sentinels != NULL) {
        copy->options.sentinels = list_copy(from->options.sentinels);
        is_whole = is_whole && copy->options.sentinels != NULL;
    }
    if (from->options.endpoints != NULL) {
        copy->options.endpoints = list_copy(from->options.endpoints);
        is_whole = is_whole && copy->options.endpoints != NULL;
    }
    if (is_whole)
        return copy;
    store_options_free(copy);
    return NULL;
}

/* Overwrites all texts, because some are secrets. */
void store_options_free(struct store_options *options)
{
    if (options == NULL)
        return;
    for (size_t i = 0; i < TEXTS; i++)
        secret_free((char *)*text_at(options, i));
    list_free(options->options.sentinels);
    list_free(options->options.endpoints);
    free(options);
}
