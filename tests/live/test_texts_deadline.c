/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that take longer to make than their stamp lasts, though numbers are
 * always at hand. */
#include "queue/queue.h"
#include "scene.h"
#include "support/test.h"

#define STEPS 10000 /* far more than fit the deadline */

static const char topology[] =
    "backends = ( { name = \"a\"; engine = \"sqlite\"; path = \"a.db\"; } );"
    "pools = ( { name = \"main\"; partitions = [ \"a\" ]; } );"
    "sequences = ( { key = \"order\"; period = \"second\";"
    "                template = \"@{date}-@{seq}\"; } );";

enum seqb_status __wrap_queue_try_take(struct seqb_sequence *sequence,
                                       const struct queue_take *take,
                                       struct seqb_error *err);

static int steps;

/* Half of the numbers, at once; and each time another second has begun. */
enum seqb_status __wrap_queue_try_take(struct seqb_sequence *sequence,
                                       const struct queue_take *take,
                                       struct seqb_error *err)
{
    (void)sequence;
    if (++steps > STEPS) {
        err->text[0] = '\0';
        return SEQB_CLOSED;
    }
    *take->taken = take->count / 2;
    for (size_t i = 0; i < *take->taken; i++)
        take->out[i] = (int64_t)i + 1;
    *take->stamp = (struct seqb_stamp){
        .digits = 20261128000000 + steps % 60,
        .begins_ms = INT64_C(1000) * steps,
    };
    return SEQB_OK;
}

TEST_WITH(SCENE, texts_that_take_longer_than_a_stamp_end_at_the_deadline)
{
    enum { MANY = 100, SIZE = 64 };
    const struct seqb_take_options options = {.size = sizeof options,
                                              .count = MANY,
                                              .deadline_ms = 1,
                                              .text_size = SIZE};
    struct seqb_taken taken = {.size = sizeof taken};
    char texts[MANY][SIZE];
    struct seqb_error err;

    scene_open(scene, scene_write(scene, "topology.conf", topology));
    assert_int_equal(seqb_take_texts(scene_sequence(scene, "order"), &options,
                                     texts[0], &taken, &err),
                     SEQB_TIMEOUT);
    assert_int_equal(taken.count, 0);
    scene_expect_words(err.text, "sequence order: no 100 texts of one stamp by "
                                 "the deadline");
}
