/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two brokers whose topologies give the keys that make themselves other memory
 * bits, or windows of another size: the same counter values, or leases, would
 * be other numbers of each. No key gives numbers by both, whichever store each
 * of them comes to first.
 */
#include "platform/text.h"
#include "scene.h"
#include "support/race.h"
#include "support/test.h"

#define KEYS 60
#define TAKE 40

static const char topology[] =
    "backends = ( { name = \"a\"; engine = \"sqlite\"; path = \"a.db\"; },"
    "             { name = \"b\"; engine = \"sqlite\"; path = \"b.db\"; } );"
    "pools = ( { name = \"main\"; partitions = [ \"a\", \"b\" ];"
    "            timeout = \"1m\"; %s } );"
    "auto_sequences = { pattern = \"*\"; %s = %d; deadline = \"1m\";"
    "                   max_unused = 64; };";

/* Two sizes of one setting of the sequences, in a pool with some more. */
struct bits {
    const char *pool;
    const char *name;
    int of[2];
    const char *words; /* of who is refused */
};

/* What one broker got of a key. */
struct share {
    struct seqb_broker *broker;
    const char *key;
    int64_t numbers[TAKE];
    size_t count;
    struct seqb_error err; /* why it got no more */
};

static struct seqb_broker *open_with_bits(const struct scene *scene,
                                          const struct bits *bits, size_t i)
{
    struct seqb_broker *broker = NULL;
    struct seqb_error err;
    char text[SCENE_TEXT_SIZE];

    assert_true(text_format(text, sizeof text, topology, bits->pool, bits->name,
                            bits->of[i]));
    assert_done(seqb_open(scene_write(scene, "bits.conf", text), &broker, &err),
                err);
    return broker;
}

static void share_run(void *racer)
{
    struct share *share = racer;
    struct seqb_sequence *sequence;
    enum seqb_status status =
        seqb_get_sequence(share->broker, share->key, &sequence, &share->err);

    race_meet();
    while (status == SEQB_OK && share->count < TAKE) {
        status =
            seqb_next(sequence, &share->numbers[share->count], &share->err);
        share->count += status == SEQB_OK;
    }
    share->err.status = status;
}

/* Both at once; each gets all, or an error says why it gets nothing. */
static void take_of_both(struct seqb_broker *const *brokers, const char *key,
                         const char *words, struct share *shares)
{
    for (size_t i = 0; i < 2; i++)
        shares[i] = (struct share){.broker = brokers[i], .key = key};
    race_run(shares, 2, sizeof shares[0], share_run);
    for (size_t i = 0; i < 2; i++) {
        if (shares[i].err.status == SEQB_OK)
            continue;
        assert_int_equal(shares[i].err.status, SEQB_LAYOUT);
        assert_int_equal(shares[i].count, 0);
        scene_expect_words(shares[i].err.text, words);
    }
}

static void expect_one_meaning(struct scene *scene, const struct bits *bits)
{
    struct seqb_broker *brokers[2] = {open_with_bits(scene, bits, 0),
                                      open_with_bits(scene, bits, 1)};
    int shared = 0;

    for (int i = 0; i < KEYS; i++) {
        struct share shares[2];
        char key[16];

        assert_true(text_format(key, sizeof key, "key.%d", i));
        take_of_both(brokers, key, bits->words, shares);
        shared += shares[0].count > 0 && shares[1].count > 0;
    }
    assert_int_equal(shared, 0);
    for (size_t i = 0; i < 2; i++)
        seqb_close(brokers[i]);
}

TEST_WITH(SCENE, one_key_has_one_meaning)
{
    static const struct bits bits = {
        "", "memory_bits", {3, 5}, "was used with memory_bits="};

    expect_one_meaning(scene, &bits);
}

/* Of windows that neighbours lease: each broker may come to another lessor. */
TEST_WITH(SCENE, one_key_has_windows_of_one_size)
{
    static const struct bits bits = {"authority = \"neighbours\";",
                                     "window_bits",
                                     {8, 10},
                                     "was used with memory_bits=3"};

    expect_one_meaning(scene, &bits);
}
