/* SPDX-License-Identifier: Apache-2.0 */
/* What the caller says of a text, brought to the template's parameters.
 * Private to this folder. */
#pragma once

#include "number/template.h"

#define PARAM_SHARD "shard"

/* Whether a value is as long, and of such letters, as the piece has. */
bool param_fits(const struct piece *piece, const char *value, size_t length);

/* What would fit, in words. */
void param_describe(const struct piece *piece, char *out, size_t size);

/*
 * Fills in params, lengths and shard of the facts, whose key is there; they
 * point to the caller's values. SEQB_INVALID: one is missing, unknown, or does
 * not fit.
 */
enum seqb_status params_resolve(const struct template *template,
                                const struct seqb_param *params, size_t count,
                                struct facts *facts, struct seqb_error *err);
