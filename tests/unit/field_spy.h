/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registered fields that record what they are shown, and write or refuse what
 * the test sets. A failure of these functions fails the test.
 */
#pragma once

#include <stdbool.h>

#include "number/template.h"

struct field_spy {
    const char *writes;
    enum seqb_status status; /* if not SEQB_OK, it returns this instead */
    bool is_called;
    char shown[512]; /* what it was shown, as text */
    /* The text that it was asked to parse. */
    char text[SEQB_PARAM_VALUE_MAX + 1];
};

/* A valid field. Its texts are 1 ... 4 capital letters. */
struct seqb_field field_spy_of(const char *name, int32_t phase,
                               struct field_spy *spy);

/* Registers the field. */
void field_spy_add(const struct seqb_field *field);

/* Compiles a template for the key "order". `rules` NULL: only the key is
 * set. */
struct template *field_spy_compile(const char *text,
                                   const struct template_rules *rules);
