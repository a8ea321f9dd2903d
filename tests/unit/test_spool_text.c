/* SPDX-License-Identifier: Apache-2.0 */
/* The spool's text: what was written is read, and nothing else is. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "platform/checksum.h"
#include "platform/text.h"
#include "queue/flusher/text.h"
#include "support/test.h"
#include "support/wrap.h"

#define ID        "0123456789abcdef0123456789abcdef"
#define BODY_SIZE 16384
#define MANY      20000 /* blocks */

static int lacks; /* which call from now on gets no memory; 0: none */

static bool has_memory(void)
{
    return lacks == 0 || --lacks > 0;
}

WRAPPED(void *, realloc, void *memory, size_t size)
{
    return has_memory() ? __real_realloc(memory, size) : NULL;
}

WRAPPED(void *, calloc, size_t count, size_t size)
{
    return has_memory() ? __real_calloc(count, size) : NULL;
}

/* A text as it stands in a file, in memory of just its size. */
struct bytes {
    char *data;
    size_t size;
};

static struct spool_text sample(struct spool_pool pools[2],
                                struct spool_block blocks[4])
{
    pools[0] = (struct spool_pool){.layout = "pool=main;bits=2",
                                   .bits = 2,
                                   .origins = {"o 0", NULL, "o2"}};
    pools[1] = (struct spool_pool){.layout = "pool=odd;bits=0",
                                   .bits = 0,
                                   .origins = {"else", "no\npartition"}};
    blocks[0] = (struct spool_block){"bill", 0, 2, 3, 32, 5};
    blocks[1] = (struct spool_block){"order", 0, 2, 0, 4, 1};
    blocks[2] = (struct spool_block){"order", 0, 2, 0, 6, INT64_MAX / 4};
    blocks[3] = (struct spool_block){"order", 1, 0, 20, INT64_MAX, 1};
    return (struct spool_text){.id = ID,
                               .ticket = 7,
                               .place = {1, 64},
                               .origin = "the store",
                               .pools = pools,
                               .pool_count = 2,
                               .blocks = blocks,
                               .block_count = 4};
}

static struct bytes write_sample(void)
{
    struct spool_pool pools[2];
    struct spool_block blocks[4];
    const struct spool_text text = sample(pools, blocks);
    struct bytes out;
    struct seqb_error err;

    assert_done(spool_text_write(&text, &out.data, &out.size, &err), err);
    return out;
}

static enum seqb_status read_copy(const char *data, size_t size,
                                  struct seqb_error *err)
{
    char *copy = malloc(size + 1);
    struct spool_text text;
    enum seqb_status status;

    assert_non_null(copy);
    memcpy(copy, data, size);
    status = spool_text_read(copy, size, &text, err);
    if (status == SEQB_OK)
        spool_text_fini(&text);
    free(copy);
    return status;
}

static void expect_same_block(const struct spool_block *a,
                              const struct spool_block *b)
{
    assert_string_equal(a->key, b->key);
    assert_int_equal(a->pool, b->pool);
    assert_int_equal(a->bits, b->bits);
    assert_int_equal(a->memory_bits, b->memory_bits);
    assert_true(a->first == b->first && a->length == b->length);
}

TEST(what_was_written_is_read)
{
    struct spool_pool pools[2];
    struct spool_block blocks[4];
    const struct spool_text is = sample(pools, blocks);
    struct bytes bytes = write_sample();
    struct spool_text out;
    struct seqb_error err;

    bytes.data = realloc(bytes.data, bytes.size + 1);
    assert_done(spool_text_read(bytes.data, bytes.size, &out, &err), err);
    assert_string_equal(out.id, is.id);
    assert_int_equal(out.ticket, is.ticket);
    assert_int_equal(out.place.pool, is.place.pool);
    assert_int_equal(out.place.member, is.place.member);
    assert_string_equal(out.origin, is.origin);
    assert_int_equal(out.pool_count, 2);
    assert_string_equal(out.pools[0].layout, is.pools[0].layout);
    assert_int_equal(out.pools[0].bits, 2);
    assert_string_equal(out.pools[0].origins[0], "o 0");
    assert_null(out.pools[0].origins[1]);
    assert_string_equal(out.pools[0].origins[2], "o2");
    assert_string_equal(out.pools[1].origins[0], "else");
    assert_int_equal(out.block_count, 4);
    for (size_t i = 0; i < 4; i++)
        expect_same_block(&out.blocks[i], &is.blocks[i]);
    spool_text_fini(&out);
    free(bytes.data);
}

TEST(spool_without_blocks_is_one)
{
    struct spool_pool pools[2];
    struct spool_block blocks[4];
    struct spool_text text = sample(pools, blocks);
    struct bytes bytes;
    struct seqb_error err;

    text.block_count = 0;
    assert_ok(spool_text_write(&text, &bytes.data, &bytes.size, &err));
    assert_ok(read_copy(bytes.data, bytes.size, &err));
    free(bytes.data);
}

TEST(many_blocks_are_written_and_read)
{
    struct spool_pool pools[2];
    struct spool_block blocks[4];
    struct spool_block *many = calloc(MANY, sizeof *many);
    struct spool_text text = sample(pools, blocks);
    struct spool_text out;
    struct bytes bytes;
    struct seqb_error err;

    assert_non_null(many);
    for (int64_t i = 0; i < MANY; i++)
        many[i] = (struct spool_block){"order", 0, 2, 0, 8 * (i + 1), 1};
    text.blocks = many;
    text.block_count = MANY;
    assert_done(spool_text_write(&text, &bytes.data, &bytes.size, &err), err);
    bytes.data = realloc(bytes.data, bytes.size + 1);
    assert_done(spool_text_read(bytes.data, bytes.size, &out, &err), err);
    assert_int_equal(out.block_count, MANY);
    expect_same_block(&out.blocks[0], &many[0]);
    expect_same_block(&out.blocks[MANY - 1], &many[MANY - 1]);
    spool_text_fini(&out);
    free(bytes.data);
    free(many);
}

/* Whichever call it is for. */
TEST(memory_that_runs_out_is_told)
{
    struct spool_pool pools[2];
    struct spool_block blocks[4];
    const struct spool_text text = sample(pools, blocks);
    struct bytes bytes;
    struct seqb_error err;

    lacks = 1;
    assert_status(spool_text_write(&text, &bytes.data, &bytes.size, &err),
                  SEQB_INVALID);
    bytes = write_sample();
    for (int i = 1; i <= 3; i++) { /* the blocks, and either pool */
        lacks = i;
        assert_status(read_copy(bytes.data, bytes.size, &err), SEQB_NO_MEMORY);
        assert_string_equal(err.text, "out of memory");
        assert_int_equal(lacks, 0);
    }
    free(bytes.data);
}

static void flip(char *bytes, size_t bit)
{
    bytes[bit / 8] = (char)((unsigned char)bytes[bit / 8] ^ 1u << bit % 8);
}

TEST(every_flipped_bit_is_noticed)
{
    struct bytes bytes = write_sample();
    struct seqb_error err;

    assert_ok(read_copy(bytes.data, bytes.size, &err));
    for (size_t i = 0; i < bytes.size * 8; i++) {
        flip(bytes.data, i);
        if (read_copy(bytes.data, bytes.size, &err) != SEQB_CORRUPT)
            fail_msg("bit %zu of byte %zu", i % 8, i / 8);
        flip(bytes.data, i);
    }
    free(bytes.data);
}

TEST(every_cut_is_noticed)
{
    struct bytes bytes = write_sample();
    struct seqb_error err;

    for (size_t i = 0; i < bytes.size; i++) {
        if (read_copy(bytes.data, i, &err) != SEQB_CORRUPT)
            fail_msg("cut after %zu bytes", i);
        if (i > 0 &&
            read_copy(bytes.data + i, bytes.size - i, &err) != SEQB_CORRUPT)
            fail_msg("%zu bytes are missing before it", i);
    }
    free(bytes.data);
}

TEST(every_block_of_zeros_is_noticed)
{
    struct bytes bytes = write_sample();
    struct seqb_error err;
    char *torn = malloc(bytes.size);

    assert_non_null(torn);
    for (size_t i = 0; i + 16 < bytes.size; i += 16) {
        memcpy(torn, bytes.data, bytes.size);
        memset(torn + i, 0, bytes.size - i); /* as after a power cut */
        assert_int_equal(read_copy(torn, bytes.size, &err), SEQB_CORRUPT);
        memcpy(torn, bytes.data, bytes.size);
        memset(torn + i, 0, 16);
        assert_int_equal(read_copy(torn, bytes.size, &err), SEQB_CORRUPT);
    }
    free(torn);
    free(bytes.data);
}

TEST(more_after_the_end_is_noticed)
{
    struct bytes bytes = write_sample();
    char *twice = malloc(bytes.size * 2);
    struct seqb_error err;

    assert_non_null(twice);
    memcpy(twice, bytes.data, bytes.size);
    memcpy(twice + bytes.size, bytes.data, bytes.size);
    assert_int_equal(read_copy(twice, bytes.size * 2, &err), SEQB_CORRUPT);
    assert_int_equal(read_copy(twice, bytes.size + 1, &err), SEQB_CORRUPT);
    free(twice);
    free(bytes.data);
}

/* Texts whose checksum is right, and which nobody wrote. */
#define TOP    "id " ID "\nticket 7 0 0 store\n"
#define POOLS  "pool 2 layout\npool 0 odd\n"
#define STORES "origin 0 0 a\norigin 0 2 b\norigin 1 0 c\n"
#define ALL    TOP POOLS STORES
#define ORDER  "sequence 0 3 order\n"
#define LONG   NAME NAME NAME NAME NAME NAME NAME NAME NAME NAME /* 160 bytes */
#define NAME   "0123456789abcdef"

#define NO_NUMBER "a number is missing or out of its range"
#define NO_TEXT   "a text is missing, or has control characters"
#define NO_BLOCK  "a block of numbers that cannot be"
#define NO_ORDER  "a block that is out of order"
#define OTHER     "something else, or less than is counted"
#define CUT_OFF   "it is cut off, or too long"

static const struct {
    const char *why;
    const char *body;
    size_t count;
} forgeries[] = {
    {"line 2: no id", "ticket 7 0 0 store\n" POOLS STORES, 0},
    {"line 3: the id is none", "id 0123\nticket 7 0 0 store\n" POOLS STORES, 0},
    {"line 3: the id is none",
     "id 0123456789ABCDEF0123456789ABCDEF\nticket 7 0 0 s\n" POOLS STORES, 0},
    {"line 2: " CUT_OFF, "id " ID "0\nticket 7 0 0 s\n" POOLS STORES, 0},
    {"line 3: no ticket", "id " ID "\n" POOLS STORES, 0},
    {"line 6: the ticket is of no pool",
     "id " ID "\nticket 7 2 0 s\n" POOLS STORES, 0},
    {"line 3: " NO_NUMBER,
     "id " ID "\nticket 9223372036854775807 0 0 s\n" POOLS STORES, 0},
    {"line 3: " NO_NUMBER, "id " ID "\nticket 7 0 65 s\n" POOLS STORES, 0},
    {"line 3: " NO_NUMBER, "id " ID "\nticket 7 1024 0 s\n" POOLS STORES, 0},
    {"line 3: " CUT_OFF, "id " ID "\nticket 7 0 0 " LONG "\n" POOLS STORES, 0},
    {"line 6: " CUT_OFF, TOP POOLS "origin 0 0 " LONG "\n", 0},
    {"line 3: " NO_TEXT, "id " ID "\nticket 7 0 0 \n" POOLS STORES, 0},
    {"line 4: the ticket is of no pool", TOP, 0},
    {"line 4: " NO_NUMBER, TOP "pool 7 layout\n", 0},
    {"line 4: " NO_TEXT, TOP "pool 2 \n", 0},
    {"line 4: " NO_TEXT, TOP "pool 2 lay\tout\n", 0},
    {"line 7: origins are out of order",
     TOP POOLS "origin 0 2 b\norigin 0 0 a\n", 0},
    {"line 7: origins are out of order",
     TOP POOLS "origin 0 0 a\norigin 0 0 a\n", 0},
    {"line 6: " NO_NUMBER, TOP POOLS "origin 0 4 a\n", 0},
    {"line 6: " NO_NUMBER, TOP POOLS "origin 2 0 a\n", 0},
    {"line 9: " NO_NUMBER, ALL "sequence 2 3 order\nblock 32 1\n", 1},
    {"line 10: a sequence without a block", ALL ORDER, 0},
    {"line 9: " OTHER, ALL "block 32 1\n", 1},
    {"line 11: " NO_BLOCK, ALL "sequence 0 3 or/der\nblock 32 1\n", 1},
    {"line 11: " NO_BLOCK, ALL "sequence 0 21 order\nblock 99999999 1\n", 1},
    {"line 11: " NO_BLOCK, ALL ORDER "block 32 0\n", 1},
    {"line 11: " NO_BLOCK, ALL ORDER "block 31 1\n", 1},
    {"line 11: a block of an unknown origin", ALL ORDER "block 40 1\n", 1},
    {"line 11: " NO_BLOCK, ALL ORDER "block 9223372036854775799 999\n", 1},
    {"line 12: " NO_ORDER, ALL ORDER "block 32 9\nblock 64 1\n", 2},
    {"line 12: " NO_ORDER, ALL ORDER "block 128 1\nblock 64 1\n", 2},
    {"line 12: " NO_ORDER, ALL ORDER "block 32 1\nblock 33 1\n", 2},
    {"line 12: a sequence comes twice",
     ALL ORDER "block 32 1\n" ORDER "block 48 1\n", 2},
    {"line 12: a sequence comes twice",
     ALL ORDER "block 32 1\nsequence 0 4 order\nblock 1024 1\n", 2},
    {"line 13: " NO_ORDER,
     ALL ORDER "block 32 1\nsequence 0 3 bill\nblock 32 1\n", 2},
    {"line 12: more blocks than are counted",
     ALL ORDER "block 32 1\nblock 64 1\n", 1},
    {"line 11: " OTHER, ALL ORDER "block 32 1\n", 2},
    {"line 10: " NO_NUMBER, ALL ORDER "block 032 1\n", 1},
    {"line 10: " NO_NUMBER, ALL ORDER "block +32 1\n", 1},
    {"line 10: " NO_NUMBER, ALL ORDER "block -32 1\n", 1},
    {"line 10: " NO_NUMBER, ALL ORDER "block 9223372036854775808 1\n", 1},
    {"line 10: " NO_NUMBER, ALL ORDER "block 32  1\n", 1},
    {"line 11: " OTHER, ALL ORDER "block 32 1\nthing\n", 1},
    {"line 11: " OTHER, ALL ORDER "block 32 1\n\n", 1},
    {"line 11: " OTHER, ALL ORDER "block 32 1\nend 1 0123456789abcdef\n", 1},
    {"line 2: no end", ALL "the ", 0},
    {"line 2: " NO_NUMBER, ALL, 100}, /* more than have room in it */
};

static size_t forge(char *out, const char *head, const char *body,
                    const char *count)
{
    (void)text_format(out, BODY_SIZE, "%s%send %s ", head, body, count);
    (void)text_append(out, BODY_SIZE, "%016" PRIx64 "\n",
                      checksum_of(out, strlen(out)));
    return strlen(out);
}

static enum seqb_status read_forged(const char *head, const char *body,
                                    const char *count, struct seqb_error *err)
{
    char text[BODY_SIZE];
    const size_t size = forge(text, head, body, count);

    return read_copy(text, size, err);
}

TEST(right_checksum_is_not_enough)
{
    struct seqb_error err;
    char count[32];

    assert_ok(read_forged("seqbroker-spool 1\n",
                          ALL ORDER "block 32 1\nblock 48 1\n", "2",
                          &err)); /* so that it is forged well */
    for (size_t i = 0; i < sizeof forgeries / sizeof forgeries[0]; i++) {
        (void)text_format(count, sizeof count, "%zu", forgeries[i].count);
        if (read_forged("seqbroker-spool 1\n", forgeries[i].body, count,
                        &err) != SEQB_CORRUPT)
            fail_msg("not refused: %s", forgeries[i].why);
        assert_string_equal(err.text, forgeries[i].why);
    }
}

static const struct {
    const char *name;
    const char *head;
    const char *words;
} heads[] = {
    {"of a later version", "seqbroker-spool 2\n", "version"},
    {"of an earlier version", "seqbroker-spool 0\n", "version"},
    {"of version 10", "seqbroker-spool 10\n", "version"},
    {"of something else", "seqbroker-state 1\n", "no spool"},
    {"with other ends of lines", "seqbroker-spool 1\r\n", "version"},
};

TEST(other_versions_and_files_are_none)
{
    struct seqb_error err;

    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        print_message("  %s\n", heads[i].name);
        assert_int_equal(read_forged(heads[i].head, ALL, "0", &err),
                         SEQB_CORRUPT);
        assert_non_null(strstr(err.text, heads[i].words));
    }
    assert_int_equal(read_copy("", 0, &err), SEQB_CORRUPT);
}

TEST(count_that_is_no_number_is_refused)
{
    static const char *const counts[] = {"1 1", "",   "x",
                                         "-1",  "00", "1000000000000"};
    struct seqb_error err;

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        assert_int_equal(
            read_forged("seqbroker-spool 1\n", ALL, counts[i], &err),
            SEQB_CORRUPT);
        assert_string_equal(err.text,
                            i == 0 ? "line 2: no end" : "line 2: " NO_NUMBER);
    }
}

/* The longest texts and the last ticket; a longer layout is none. */
TEST(texts_and_tickets_have_their_limits)
{
    char body[BODY_SIZE];
    char origin[SEQB_ORIGIN_SIZE] = "";
    char layout[SEQB_CLAIM_SIZE + 1] = "";
    struct seqb_error err;

    memset(origin, 'o', sizeof origin - 1);
    for (size_t length = SEQB_CLAIM_SIZE - 1; length < sizeof layout;
         length++) {
        memset(layout, 'l', length);
        (void)text_format(body, sizeof body,
                          "id " ID "\nticket 9223372036854775806 0 0 %s\n"
                          "pool 0 %s\norigin 0 0 %s\n",
                          origin, layout, origin);
        assert_status(read_forged("seqbroker-spool 1\n", body, "0", &err),
                      length < SEQB_CLAIM_SIZE ? SEQB_OK : SEQB_CORRUPT);
    }
}

TEST(spool_has_so_many_pools)
{
    char body[BODY_SIZE] = "id " ID "\nticket 7 1023 0 of the last one\n";
    struct seqb_error err;

    for (int i = 0; i < SPOOL_POOLS; i++)
        (void)text_append(body, sizeof body, "pool 0 odd\n");
    assert_ok(read_forged("seqbroker-spool 1\n", body, "0", &err));
    (void)text_append(body, sizeof body, "pool 0 odd\n");
    assert_status(read_forged("seqbroker-spool 1\n", body, "0", &err),
                  SEQB_CORRUPT);
    assert_non_null(strstr(err.text, "too many pools"));
}

/* An engine of a service may call its origin what it likes. */
TEST(origin_that_is_no_line_is_not_written)
{
    static char line[2 * SEQB_CLAIM_SIZE];
    struct spool_pool pools[2];
    struct spool_block blocks[4];
    struct spool_text text = sample(pools, blocks);
    struct bytes bytes;
    struct seqb_error err;

    memset(line, 'x', sizeof line - 1);
    text.origin = line; /* longer than any line of the file */
    assert_int_equal(spool_text_write(&text, &bytes.data, &bytes.size, &err),
                     SEQB_INVALID);
    text.origin = "the store";
    pools[0].origins[0] = "two\nlines";
    assert_int_equal(spool_text_write(&text, &bytes.data, &bytes.size, &err),
                     SEQB_INVALID);
    pools[0].origins[0] = "one";
    text.origin = "";
    assert_int_equal(spool_text_write(&text, &bytes.data, &bytes.size, &err),
                     SEQB_INVALID);
}
