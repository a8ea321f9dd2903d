/* SPDX-License-Identifier: Apache-2.0 */
/* Templates compiled, written and read without a broker. */
#pragma once

#include "number/template.h"

#define CASE_STAMP INT64_C(20261121) /* of the day that `day` rules have */

/* The rules that most tests want: period = day in UTC, a key for shuffles. */
struct template_rules case_rules(void);

/* Ids of 32 | 12 | 19 bits of seconds; valid for ever. */
struct template_rules case_rules_of_ids(void);

/* Compiles; asserts. For template_free. */
struct template *case_make(const char *text,
                           const struct template_rules *rules);

/* Facts of a number of CASE_STAMP (or the second that it begins with), and the
 * parameters' defaults; asserts that parameters are all right. */
void case_facts(const struct template *template, int64_t number,
                const struct seqb_param *params, size_t count,
                struct facts *out);

/* Makes them those of another day; it begins when nobody asks. */
void case_set_day(struct facts *facts, int64_t stamp);

/* The text of the facts: SEQB_OK, or as template_write. */
enum seqb_status case_write(const struct template *template,
                            const struct facts *facts, char *out,
                            struct seqb_error *err);

/* Reads; the facts' params point into the text. */
enum seqb_status case_read(const struct template *template, const char *text,
                           struct facts *out, struct seqb_error *err);
