/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles, writes and reads templates without a broker. */
#pragma once

#include "number/template.h"

#define CASE_STAMP INT64_C(20261121) /* the day's stamp under case_rules */

/* The rules that most tests need: period = day in UTC, and a key for
 * shuffles. */
struct template_rules case_rules(void);

/* Ids of seconds with 32
 * 12
 * 19 bits. Static. */
struct template_rules case_rules_of_ids(void);

/* Compiles a template, which must succeed. Free it by template_free. */
struct template *case_make(const char *text,
                           const struct template_rules *rules);

/* Facts of a number of CASE_STAMP (or of the day's first second), with the
 * parameters' defaults. The parameters must be valid. */
void case_facts(const struct template *template, int64_t number,
                const struct seqb_param *params, size_t count,
                struct facts *out);

/* Sets the facts to another day. Its stamp has no begin and no end, which
 * nobody needs. */
void case_set_day(struct facts *facts, int64_t stamp);

/* Writes the facts' text. Statuses as for template_write. */
enum seqb_status case_write(const struct template *template,
                            const struct facts *facts, char *out,
                            struct seqb_error *err);

/* Reads a text. The facts' params point into the text. */
enum seqb_status case_read(const struct template *template, const char *text,
                           struct facts *out, struct seqb_error *err);
