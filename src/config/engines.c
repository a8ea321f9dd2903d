/* SPDX-License-Identifier: Apache-2.0 */
/* Built-in engines come first; a service cannot take a name of theirs. */
#include "config/engines.h"

#include <string.h>

#include "backends/backends.h"
#include "platform/error.h"
#include "platform/text.h"

/* The first function that the engine lacks, NULL if it is complete. */
static const char *missing_function(const struct seqb_backend_ops *ops)
{
    const struct {
        const char *name;
        bool is_there;
    } functions[] = {
        {"library", ops->library != NULL}, {"open", ops->open != NULL},
        {"reserve", ops->reserve != NULL}, {"raise", ops->raise != NULL},
        {"install", ops->install != NULL}, {"claim", ops->claim != NULL},
        {"swap", ops->swap != NULL},       {"purge", ops->purge != NULL},
        {"clock", ops->clock != NULL},     {"close", ops->close != NULL},
    };

    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (!functions[i].is_there)
            return functions[i].name;
    }
    return NULL;
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
    const char *missing = missing_function(ops);

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
    if (ops->guarantee != SEQB_DIRECT && ops->guarantee != SEQB_WINDOWED &&
        ops->guarantee != SEQB_LOCAL)
        return error_set(err, SEQB_INVALID,
                         "engine %s of the service: its guarantee is none of "
                         "SEQB_DIRECT, SEQB_WINDOWED and SEQB_LOCAL",
                         ops->engine);
    if (missing != NULL)
        return error_set(err, SEQB_INVALID,
                         "engine %s of the service has no function '%s': an "
                         "engine has them all",
                         ops->engine, missing);
    return SEQB_OK;
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
find_own(const struct seqb_backend_ops *const *engines, const char *name)
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
        backend->ops = find_own(draft->engines, name);
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
