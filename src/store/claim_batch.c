/* SPDX-License-Identifier: Apache-2.0 */
/* Claims of many sequences for one store. */
#include "store/claim_batch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "platform/text.h"

struct claim_batch {
    /* The text that was made last, and its attributes: the next sequence often
     * has the same ones. `last.layout` is NULL before the first. */
    struct claim_attributes last;
    char text[CLAIM_SEQUENCE_SIZE];
    size_t count;
    size_t done; /* the first `done` claims were answered */
    struct seqb_claim claims[CLAIM_BATCH];
    char names[CLAIM_BATCH][SEQB_COUNTER_SIZE];
    char expected[CLAIM_BATCH][CLAIM_SEQUENCE_SIZE]; /* the text to be stored;
                                                     "": none */
};

static_assert(CLAIM_SEQUENCE_SIZE < SEQB_GUARD_SIZE,
              "a text that is cut would look like one that stands");

struct claim_batch *claim_batch_new(void)
{
    struct claim_batch *batch = malloc(sizeof *batch);

    if (batch != NULL)
        claim_batch_begin(batch);
    return batch;
}

void claim_batch_begin(struct claim_batch *batch)
{
    batch->last.layout = NULL;
    batch->count = 0;
    batch->done = 0;
}

/* Adds a claim that is only read. The caller fills in its name and the expected
 * text. */
static size_t add(struct claim_batch *batch)
{
    const size_t i = batch->count++;

    assert(i < CLAIM_BATCH);
    batch->claims[i].name = batch->names[i];
    batch->claims[i].text = NULL;
    batch->expected[i][0] = '\0';
    return i;
}

static bool claim_the_same(const struct claim_attributes *a,
                           const struct claim_attributes *b)
{
    return a->layout == b->layout && a->memory_bits == b->memory_bits &&
           a->window_bits == b->window_bits && strcmp(a->more, b->more) == 0;
}

/* What the sequence claims. */
static const char *text_of(struct claim_batch *batch,
                           const struct claim_attributes *attributes)
{
    if (batch->last.layout == NULL ||
        !claim_the_same(&batch->last, attributes)) {
        claim_sequence_text(attributes, batch->text, sizeof batch->text);
        batch->last = *attributes;
    }
    return batch->text;
}

void claim_batch_add(struct claim_batch *batch,
                     const struct connection *connection,
                     const struct claim_attributes *attributes)
{
    const size_t i = add(batch);

    claim_sequence_name(attributes, attributes->layout->generation,
                        batch->names[i], sizeof batch->names[i]);
    (void)text_copy(batch->expected[i], sizeof batch->expected[i],
                    text_of(batch, attributes));
    if (!claim_has_history(connection, attributes))
        batch->claims[i].text = batch->expected[i];
}

void claim_batch_add_absent(struct claim_batch *batch,
                            const struct layout *layout, int32_t generation,
                            const char *key)
{
    const struct claim_attributes attributes = {.layout = layout, .key = key};
    const size_t i = add(batch);

    claim_sequence_name(&attributes, generation, batch->names[i],
                        sizeof batch->names[i]);
}

void claim_batch_add_moved(struct claim_batch *batch,
                           const struct layout *other, const char *key)
{
    for (int32_t generation = 1; generation <= layout_generations(other);
         generation++)
        claim_batch_add_absent(batch, other, generation, key);
}

size_t claim_batch_count(const struct claim_batch *batch)
{
    return batch->count;
}

enum seqb_status claim_batch_step(struct claim_batch *batch,
                                  struct connection *connection,
                                  struct seqb_error *err)
{
    size_t done = 0;
    const enum seqb_status status =
        connection_claim_many(connection, &batch->claims[batch->done],
                              batch->count - batch->done, &done, err);

    if (status == SEQB_OK)
        batch->done += done;
    else
        batch->done = 0;
    return status;
}

bool claim_batch_is_done(const struct claim_batch *batch)
{
    return batch->done == batch->count;
}

bool claim_batch_stands(const struct claim_batch *batch, size_t i)
{
    return i < batch->done &&
           strcmp(batch->claims[i].standing, batch->expected[i]) == 0;
}
