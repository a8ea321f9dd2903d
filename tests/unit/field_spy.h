/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registered fields that note what they are shown, and write or refuse what
 * they are told to. What must not fail here fails the test.
 */
#pragma once

#include <stdbool.h>

#include "number/template.h"

struct field_spy {
    const char *writes;
    enum seqb_status status; /* that it returns instead, if it is not OK */
    bool is_called;
    char shown[512];                     /* the view, in words */
    char text[SEQB_PARAM_VALUE_MAX + 1]; /* that was to be parsed */
};

/* A sound one; its texts are 1 ... 4 capital letters. */
struct seqb_field field_spy_of(const char *name, int32_t phase,
                               struct field_spy *spy);

/* Registers one. */
void field_spy_add(const struct seqb_field *field);

/* Compiles a template for the key "order"; rules NULL: and no more. */
struct template *field_spy_compile(const char *text,
                                   const struct template_rules *rules);
