/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and checks engines. Built-in engines come first: an engine of the
 * service cannot have the name of one. */
#include "config/check/check.h"

#include <string.h>

#include "backends/backends.h"
#include "platform/error.h"
#include "platform/text.h"

/* Sets of classes (enum seqb_guarantee). */
#define DIRECT   (1U << SEQB_DIRECT)
#define WINDOWED (1U << SEQB_WINDOWED)
#define EVERY    (DIRECT | WINDOWED)

struct function {
    const char *name;
    bool is_there;
    unsigned must; /* classes that must have it */
    unsigned may;  /* further classes that may have it */
};

/* Whether the engine has every function that its class must have, and none that
 * its class must not have. */
static enum seqb_status check_functions(const struct seqb_backend_ops *ops,
                                        struct seqb_error *err)
{
    const struct function functions[] = {
        {"library", ops->library != NULL, EVERY, 0},
        {"open", ops->open != NULL, EVERY, 0},
        {"reserve", ops->reserve != NULL, EVERY, 0},
        {"raise", ops->raise != NULL, EVERY, 0},
        {"install", ops->install != NULL, WINDOWED, DIRECT},
        {"claim", ops->claim != NULL, EVERY, 0},
        {"swap", ops->swap != NULL, DIRECT, 0},
        {"purge", ops->purge != NULL, 0, DIRECT},
        {"list", ops->list != NULL, 0, DIRECT},
        {"clock", ops->clock != NULL, 0, EVERY},
        {"close", ops->close != NULL, EVERY, 0},
    };
    const unsigned class = 1U << ops->guarantee;

    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        const struct function *function = &functions[i];

        if (!function->is_there && (function->must & class) != 0)
            return error_set(err, SEQB_INVALID,
                             "engine %s of the service has no function '%s': "
                             "its class must have one",
                             ops->engine, function->name);
        if (function->is_there &&
            ((function->must | function->may) & class) == 0)
            return error_set(err, SEQB_INVALID,
                             "engine %s of the service has a function '%s': "
                             "its class has none, leave it NULL",
                             ops->engine, function->name);
    }
    return SEQB_OK;
}

static bool is_repeated(const struct seqb_backend_ops *const *engines, size_t i)
{
    for (size_t j = 0; j < i; j++) {
        if (strcmp(engines[j]->engine, engines[i]->engine) == 0)
            return true;
    }
    return false;
}

static enum seqb_status check_one(const struct seqb_backend_ops *const *engines,
                                  size_t i, struct seqb_error *err)
{
    const struct seqb_backend_ops *ops = engines[i];

    if (ops->engine == NULL || !text_is_name(ops->engine) ||
        strlen(ops->engine) >= SEQB_ENGINE_SIZE)
        return error_set(err, SEQB_INVALID,
                         "engine %zu of the service: its name must be 1 to %d "
                         "of A-Z a-z 0-9 _ -",
                         i, SEQB_ENGINE_SIZE - 1);
    if (backend_find(ops->engine) != NULL || is_repeated(engines, i))
        return error_set(err, SEQB_INVALID,
                         "engine %s of the service: there is another one of "
                         "that name: give it one of its own",
                         ops->engine);
    if (ops->guarantee != SEQB_DIRECT && ops->guarantee != SEQB_WINDOWED)
        return error_set(err, SEQB_INVALID,
                         "engine %s of the service: its guarantee is neither "
                         "SEQB_DIRECT nor SEQB_WINDOWED",
                         ops->engine);
    return check_functions(ops, err);
}

enum seqb_status engines_check(const struct seqb_backend_ops *const *engines,
                               struct seqb_error *err)
{
    for (size_t i = 0; engines != NULL && engines[i] != NULL; i++) {
        if (check_one(engines, i, err) != SEQB_OK)
            return SEQB_INVALID;
    }
    return SEQB_OK;
}

static const struct seqb_backend_ops *
find_custom(const struct seqb_backend_ops *const *engines, const char *name)
{
    for (size_t i = 0; engines != NULL && engines[i] != NULL; i++) {
        if (strcmp(engines[i]->engine, name) == 0)
            return engines[i];
    }
    return NULL;
}

void engines_resolve(struct draft *draft)
{
    for (size_t i = 0; i < draft->backend_count; i++) {
        struct draft_backend *backend = &draft->backends[i];
        const char *name = backend->engine.text;

        if (name == NULL)
            continue;
        backend->ops = backend_find(name);
        if (backend->ops != NULL)
            continue;
        backend->ops = find_custom(draft->engines, name);
        backend->is_custom = backend->ops != NULL;
    }
}

void engines_list(const struct draft *draft, char *out, size_t size)
{
    const struct seqb_backend_ops *const *own = draft->engines;
    const struct seqb_backend_ops *ops;

    (void)text_copy(out, size, ": this build has");
    for (size_t i = 0; (ops = backend_at(i)) != NULL; i++)
        (void)text_append(out, size, "%s %s", i == 0 ? "" : ",", ops->engine);
    for (size_t i = 0; own != NULL && own[i] != NULL; i++)
        (void)text_append(out, size, "%s %s",
                          i == 0 ? "; the service has" : ",", own[i]->engine);
}
