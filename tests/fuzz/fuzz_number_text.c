/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A byte that chooses a template, and any others as a text of it. What must
 * hold: it is refused with a reason, or what it says is written as this text.
 */
#include "fuzz/fuzz.h"
#include "unit/custom_fields.h"
#include "unit/round_rows.h"

#define ROUNDS_MAX 64

int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Compiled once: the fuzzer's own thread is the only one. */
static struct round rounds[ROUNDS_MAX];

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    require(own_fields_register() && round_row_count <= ROUNDS_MAX);
    for (size_t i = 0; i < round_row_count; i++) {
        const struct round_row *row = &round_rows[i];

        require(round_make(&rounds[i], row->kind, row->template, NULL) ==
                SEQB_OK);
    }
    return 0;
}

/* A copy that ends where it ends: who reads on is noticed. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seqb_error why = {SEQB_OK, ""};
    bool is_accepted;
    char *copy;

    if (size == 0)
        return 0;
    copy = malloc(size - 1 + (size == 1));
    require(copy != NULL);
    memcpy(copy, data + 1, size - 1);
    require(round_is_canonical(&rounds[data[0] % round_row_count], copy,
                               size - 1, &is_accepted, &why));
    free(copy);
    return 0;
}
