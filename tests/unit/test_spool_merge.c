/* SPDX-License-Identifier: Apache-2.0 */
/* Which pools a file is of, and what becomes of its blocks. The test plays the
 * pools. */
#include <stdlib.h>
#include <string.h>

#include "platform/text.h"
#include "queue/flusher/merge.h"
#include "support/events.h"
#include "support/test.h"
#include "support/wrap.h"

#define POOLS 2
#define SMALL 0 /* the pool with two partitions, and the one with the most */
#define LARGE 1

static struct played {
    const char *layout;
    int32_t bits;
    enum ha_origin known; /* of partition 0; those of the others are known */
    const char *earlier;  /* its layout before; NULL: none */
} played[POOLS];

static int lacks; /* which call from now on gets no memory; 0: none */

WRAPPED(void *, calloc, size_t count, size_t size)
{
    if (lacks > 0 && --lacks == 0)
        return NULL;
    return __real_calloc(count, size);
}

WRAPPED(size_t, ha_pool_count, const struct ha *ha)
{
    (void)ha;
    return POOLS;
}

WRAPPED(struct ha_pool *, ha_pool_at, struct ha *ha, size_t i)
{
    (void)ha;
    assert_true(i < POOLS);
    return (struct ha_pool *)&played[i];
}

WRAPPED(int32_t, ha_pool_bits, const struct ha_pool *pool)
{
    return ((const struct played *)pool)->bits;
}

WRAPPED(const char *, ha_pool_layout, const struct ha_pool *pool)
{
    return ((const struct played *)pool)->layout;
}

WRAPPED(bool, ha_pool_had_layout, const struct ha_pool *pool, const char *text)
{
    const char *earlier = ((const struct played *)pool)->earlier;

    return earlier != NULL && strcmp(earlier, text) == 0;
}

WRAPPED(enum ha_origin, ha_pool_origin, struct ha_pool *pool, int32_t partition,
        char *out)
{
    const struct played *of = (const struct played *)pool;

    assert_true(partition < 1 << of->bits);
    (void)text_format(out, SEQB_ORIGIN_SIZE, "o%d", (int)partition);
    return partition == 0 ? of->known : HA_ORIGIN_NOW;
}

/* The choice that the sequence of the merge makes, and its memory bits. */
struct chosen {
    enum spool_choice choice;
    int32_t memory_bits;
};

static enum spool_choice choose(void *context, const struct spool_block *block,
                                int32_t *memory_bits)
{
    const struct chosen *chosen = context;

    (void)block;
    if (chosen->choice == SPOOL_TAKE)
        *memory_bits = chosen->memory_bits;
    return chosen->choice;
}

static void play(void)
{
    lacks = 0;
    played[SMALL] = (struct played){"small", 1, HA_ORIGIN_NOW, "small before"};
    played[LARGE] = (struct played){"large", HA_BITS_MAX, HA_ORIGIN_NOW, NULL};
}

static void init(struct merge *merge,
                 const struct spool_exchange_options *options)
{
    play();
    assert_ok(merge_init(merge, NULL, options, NULL));
}

static const struct {
    const char *layouts[2];
    size_t count;
    bool fits;
    bool is_migrated;
} texts[] = {
    {{"large", "else"}, 1, true, false},
    {{"large", "small"}, 2, true, false},
    {{"small", "else"}, 1, true, false},
    {{"small before", "else"}, 1, false, true},
    {{"small before", "large"}, 2, false, true},
    {{"large", "small before"}, 2, false, true},
    {{"large", "else"}, 2, false, false},
    {{"else", "small before"}, 2, false, false},
    {{"small before", "else"}, 2, false, false},
};

static struct spool_text text_of(size_t i)
{
    struct spool_text text = {.pool_count = texts[i].count};

    text.pools = calloc(2, sizeof *text.pools);
    text.blocks = calloc(2, sizeof *text.blocks); /* one more than there are */
    assert_non_null(text.pools);
    assert_non_null(text.blocks);
    text.block_count = 1;
    for (size_t j = 0; j < 2; j++) {
        const char *layout = texts[i].layouts[j];

        text.pools[j].layout = layout;
        text.pools[j].bits = layout[0] == 'l' ? HA_BITS_MAX : 1;
    }
    return text;
}

TEST(pools_are_known_by_their_layouts)
{
    struct seqb_error err;
    struct merge merge;

    init(&merge, NULL);
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct spool_text text = text_of(i);

        assert_int_equal(merge_is_migrated(&merge, &text),
                         texts[i].is_migrated);
        assert_status(merge_adopt(&merge, &text, &err),
                      texts[i].fits ? SEQB_OK : SEQB_LAYOUT);
        if (texts[i].fits) {
            const size_t first = texts[i].layouts[0][0] == 'l' ? LARGE : SMALL;

            assert_int_equal(text.pool_count, POOLS);
            assert_string_equal(text.pools[first].layout, texts[i].layouts[0]);
            assert_int_equal(text.blocks[0].pool, first);
            assert_int_equal(text.blocks[1].pool, 0);
            assert_int_equal(text.place.pool, first);
        }
        spool_text_fini(&text);
    }
    merge_fini(&merge);
}

/* The same layout of another number of partitions is another one. */
TEST(pool_of_other_bits_is_not_known)
{
    struct spool_text text = text_of(2);
    struct seqb_error err;
    struct merge merge;

    init(&merge, NULL);
    text.pools[0].bits++;
    assert_status(merge_adopt(&merge, &text, &err), SEQB_LAYOUT);
    spool_text_fini(&text);
    merge_fini(&merge);
}

static const struct {
    const char *name;
    enum ha_origin known;
    const char *origin; /* when it was kept */
    struct chosen chosen;
    enum disposition disposition;
} fates[] = {
    {"not wanted", HA_ORIGIN_NOW, "o0", {SPOOL_KEEP, 0}, MERGE_KEPT},
    {"wanted", HA_ORIGIN_NOW, "o0", {SPOOL_TAKE, 3}, MERGE_TAKEN},
    {"of other bits", HA_ORIGIN_NOW, "o0", {SPOOL_TAKE, 2}, MERGE_LOST},
    {"of no use", HA_ORIGIN_NOW, "o0", {SPOOL_DROP, 0}, MERGE_LOST},
    {"its store is away", HA_ORIGIN_PAST, "o0", {SPOOL_TAKE, 3}, MERGE_KEPT},
    {"it was not there yet", HA_ORIGIN_NONE, "x", {SPOOL_TAKE, 3}, MERGE_KEPT},
    {"another store", HA_ORIGIN_NOW, "x", {SPOOL_TAKE, 3}, MERGE_LOST},
    {"another that is away", HA_ORIGIN_PAST, "x", {SPOOL_KEEP, 0}, MERGE_LOST},
};

/* Of partition 0 of the small pool. */
static struct spool_block a_block(void)
{
    return (struct spool_block){"order", SMALL, 1, 3, 16, 8};
}

TEST(block_is_kept_taken_or_lost)
{
    for (size_t i = 0; i < COUNT_OF(fates); i++) {
        struct chosen chosen = fates[i].chosen;
        const struct spool_exchange_options options = {.choose = choose,
                                                       .context = &chosen};
        struct spool_block block = a_block();
        struct spool_pool pools[POOLS] = {{.origins = {fates[i].origin}}};
        const struct spool_text text = {
            .pools = pools, .blocks = &block, .block_count = 1};
        struct merge merge;

        play();
        played[SMALL].known = fates[i].known;
        assert_ok(merge_init(&merge, NULL, &options, NULL));
        assert_ok(merge_decide(&merge, &text, NULL));
        if (merge.pieces[0].disposition != fates[i].disposition)
            fail_msg("%s: %d", fates[i].name, merge.pieces[0].disposition);
        assert_int_equal(merge_is_worth_it(&merge),
                         fates[i].disposition != MERGE_KEPT);
        merge_fini(&merge);
    }
}

/* Those of the file where the store is not known; none of partitions that the
 * pool does not have. */
TEST(next_file_has_the_origins_of_the_stores)
{
    struct spool_pool pools[POOLS] = {{.origins = {"past", "past", "past"}}};
    const struct spool_text text = {.pools = pools};
    const struct spool_exchange_options options = {.give_count = 0};
    struct spool_text next = {.pools = NULL};
    struct merge merge;

    play();
    played[SMALL].known = HA_ORIGIN_NONE;
    assert_ok(merge_init(&merge, NULL, &options, NULL));
    assert_ok(merge_decide(&merge, &text, NULL));
    assert_ok(merge_compose(&merge, &text, &next, NULL));
    assert_int_equal(next.pool_count, POOLS);
    assert_string_equal(next.pools[SMALL].layout, "small");
    assert_int_equal(next.pools[SMALL].bits, 1);
    assert_string_equal(next.pools[SMALL].origins[0], "past");
    assert_string_equal(next.pools[SMALL].origins[1], "o1");
    assert_null(next.pools[SMALL].origins[2]);
    assert_string_equal(next.pools[LARGE].origins[63], "o63");
    spool_text_fini(&next);
    merge_fini(&merge);
}

static const struct {
    struct piece piece;
    const char *told; /* "": nothing */
} tales[] = {
    {{{.length = 1}, MERGE_TAKEN, false}, "event=spool taken=1 given=0 kept=0"},
    {{{.length = 1}, MERGE_KEPT, true}, "event=spool taken=0 given=1 kept=1"},
    {{{.length = 1}, MERGE_LOST, false}, "event=spool_lost numbers=1"},
    {{{.length = 5}, MERGE_KEPT, false}, ""},
};

TEST(what_became_of_each_number_is_told)
{
    for (size_t i = 0; i < COUNT_OF(tales); i++) {
        struct piece piece = tales[i].piece;
        const struct merge merge = {.pieces = &piece, .piece_count = 1};

        events_start();
        merge_log(&merge);
        assert_int_equal(events_count("event=spool", ""),
                         tales[i].told[0] != '\0');
        assert_int_equal(events_count("event=spool", tales[i].told),
                         tales[i].told[0] != '\0');
        events_stop();
    }
}

/* Whichever call it is for. */
TEST(memory_that_runs_out_is_told)
{
    const struct spool_block block = a_block();
    const struct spool_exchange_options options = {.give = &block,
                                                   .give_count = 1};
    struct spool_text adopted = text_of(0);
    struct spool_text next = {.pools = NULL};
    struct seqb_error err;
    struct merge merge;

    play();
    lacks = 1;
    assert_status(merge_init(&merge, NULL, &options, &err), SEQB_NO_MEMORY);
    merge_fini(&merge);
    init(&merge, &options);
    lacks = 1;
    assert_status(merge_adopt(&merge, &adopted, &err), SEQB_NO_MEMORY);
    lacks = 1;
    assert_status(merge_decide(&merge, NULL, &err), SEQB_NO_MEMORY);
    assert_ok(merge_decide(&merge, NULL, &err));
    for (int i = 1; i <= 2; i++) {
        lacks = i;
        assert_status(merge_compose(&merge, NULL, &next, &err), SEQB_NO_MEMORY);
    }
    assert_ok(merge_compose(&merge, NULL, &next, &err));
    assert_int_equal(next.block_count, 1);
    spool_text_fini(&adopted);
    spool_text_fini(&next);
    merge_fini(&merge);
}
