/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the caller's parameters before a number is taken. */
#include <string.h>

#include "number/fields/fields.h"
#include "platform/error.h"
#include "platform/text.h"

static enum seqb_status resolve_shard(const struct template *template,
                                      const char *value, struct facts *facts,
                                      struct seqb_error *err)
{
    const struct bits_layout *ids = template->rules.ids;

    if (ids == NULL)
        return error_set(err, SEQB_INVALID,
                         "sequence %s has no ids: a shard has no place in its "
                         "numbers",
                         facts->key);
    if (text_to_int64(value, strlen(value), &facts->shard) &&
        facts->shard >= 0 && facts->shard <= bits_shard_max(ids))
        return SEQB_OK;
    return error_set(err, SEQB_INVALID,
                     "sequence %s: shard '%.64s' is not in 0 ... %lld",
                     facts->key, value, (long long)bits_shard_max(ids));
}

static const struct piece *find(const struct template *template,
                                const char *name)
{
    for (size_t i = 0; i < template->param_count; i++) {
        if (strcmp(template->params[i]->param.name, name) == 0)
            return template->params[i];
    }
    return NULL;
}

static enum seqb_status refuse_value(const struct piece *piece,
                                     const struct facts *facts,
                                     const char *value, struct seqb_error *err)
{
    char expected[64];

    param_describe(piece, expected, sizeof expected);
    return error_set(err, SEQB_INVALID,
                     "sequence %s: parameter %s is '%.80s', expected %s",
                     facts->key, piece->param.name, value, expected);
}

static enum seqb_status resolve_one(const struct template *template,
                                    const struct seqb_param *param,
                                    struct facts *facts, struct seqb_error *err)
{
    const struct piece *piece;
    size_t index;

    if (strcmp(param->name, PARAM_SHARD) == 0 && facts->shard < 0)
        return resolve_shard(template, param->value, facts, err);
    piece = find(template, param->name);
    if (piece == NULL)
        return error_set(err, SEQB_INVALID,
                         "sequence %s: its template has no parameter '%.64s'%s",
                         facts->key, param->name,
                         facts->shard < 0 ? "" : ", or it comes twice");
    index = piece->param.index;
    if (facts->params[index] != NULL)
        return error_set(err, SEQB_INVALID,
                         "sequence %s: parameter %s comes twice", facts->key,
                         param->name);
    facts->lengths[index] = strlen(param->value);
    if (!param_fits(piece, param->value, facts->lengths[index]))
        return refuse_value(piece, facts, param->value, err);
    facts->params[index] = param->value;
    return SEQB_OK;
}

static enum seqb_status fill_in(const struct template *template,
                                struct facts *facts, struct seqb_error *err)
{
    for (size_t i = 0; i < template->param_count; i++) {
        const struct param_piece *param = &template->params[i]->param;

        if (facts->params[i] != NULL)
            continue;
        if (param->value[0] == '\0')
            return error_set(err, SEQB_INVALID,
                             "sequence %s: parameter %s is missing, and its "
                             "template has no default for it",
                             facts->key, param->name);
        facts->params[i] = param->value;
        facts->lengths[i] = strlen(param->value);
    }
    if (facts->shard < 0 && template->rules.ids != NULL)
        facts->shard = 0;
    return SEQB_OK;
}

enum seqb_status params_resolve(const struct template *template,
                                const struct seqb_param *params, size_t count,
                                struct facts *facts, struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (size_t i = 0; i < template->param_count; i++)
        facts->params[i] = NULL;
    for (size_t i = 0; i < count && status == SEQB_OK; i++)
        status = resolve_one(template, &params[i], facts, err);
    return status == SEQB_OK ? fill_in(template, facts, err) : status;
}
