/* SPDX-License-Identifier: Apache-2.0 */
/* See cut_side.h. */
#include "cut_side.h"

#include "platform/text.h"
#include "support/test.h"

void cut_side_init(struct cut_side *side, const char *topology, const char *key)
{
    *side = (struct cut_side){.key = key};
    assert_true(text_copy(side->topology, sizeof side->topology, topology));
}

static bool side_is_open(struct cut_side *side, struct seqb_error *err)
{
    return side->broker != NULL ||
           (seqb_open(side->topology, &side->broker, err) == SEQB_OK &&
            seqb_get_sequence(side->broker, side->key, &side->sequence, err) ==
                SEQB_OK);
}

bool cut_side_take(struct cut_taker *taker, int64_t *out)
{
    struct cut_side *side = taker->context;
    struct seqb_error err = {.text = ""};

    if (side_is_open(side, &err) &&
        seqb_next(side->sequence, out, &err) == SEQB_OK)
        return true;
    (void)text_copy(taker->error, sizeof taker->error, err.text);
    return false;
}

void cut_side_close(struct cut_side *side)
{
    seqb_close(side->broker);
    side->broker = NULL;
}
