/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of memcached counters: windows up to the last that does not
 * wrap, the guard band and its proof, and the names of items. */
#include <string.h>

#include "backends/memcached/cell.h"
#include "backends/memcached/key.h"
#include "platform/text.h"
#include "support/test.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define K        ((int64_t)1024)
#define SPAN     (2 * (uint64_t)K)

static bool read_text(const char *text, uint32_t flags,
                      struct memcached_cell *out)
{
    return memcached_cell_read(text, strlen(text), flags, out);
}

static struct memcached_cell cell_at(int64_t window, int64_t offset)
{
    struct memcached_cell cell;

    assert_true(memcached_cell_begin(window, K, &cell));
    cell.value += (uint64_t)offset;
    cell.offset = offset;
    return cell;
}

TEST(cell_reads_back_as_it_began)
{
    static const int64_t sizes[] = {1, 2, 256, 1 << 20, MEMCACHED_SIZE_MAX};
    static const int64_t windows[] = {1, 2, 1000, 1 << 20};

    for (size_t i = 0; i < COUNT(sizes) * COUNT(windows); i++) {
        const int64_t size = sizes[i % COUNT(sizes)];
        const int64_t window = windows[i / COUNT(sizes)];
        struct memcached_cell begun;
        struct memcached_cell read;
        char text[32];

        assert_true(memcached_cell_begin(window, size, &begun));
        assert_true(text_format(text, sizeof text, "%llu",
                                (unsigned long long)begun.value));
        assert_true(read_text(text, memcached_cell_flags(size), &read));
        assert_memory_equal(&read, &begun, sizeof read);
        assert_int_equal(read.window, window);
        assert_int_equal(read.offset, 0);
        assert_int_equal(read.size, size);
    }
}

TEST(window_that_would_wrap_is_refused)
{
    static const int64_t sizes[] = {1, 256, 1 << 20, MEMCACHED_SIZE_MAX};
    struct memcached_cell cell;

    for (size_t i = 0; i < COUNT(sizes); i++) {
        const uint64_t span = 2 * (uint64_t)sizes[i];
        const int64_t last = (int64_t)(UINT64_MAX / span);

        assert_true(memcached_cell_begin(last, sizes[i], &cell));
        assert_true(cell.value + (span - 1) == UINT64_MAX);
        if (last < INT64_MAX)
            assert_false(memcached_cell_begin(last + 1, sizes[i], &cell));
    }
    assert_false(memcached_cell_begin(INT64_MAX, 256, &cell));
    assert_false(memcached_cell_begin(0, 256, &cell));
    assert_false(memcached_cell_begin(-1, 256, &cell));
}

TEST(only_powers_of_two_are_sizes)
{
    static const int64_t others[] = {
        0,         -1,       3, 1000, K - 1, K + 1, 2 * MEMCACHED_SIZE_MAX,
        INT64_MAX, INT64_MIN};
    struct memcached_cell cell;

    for (size_t i = 0; i < COUNT(others); i++) {
        assert_int_equal(memcached_cell_flags(others[i]), 0);
        assert_false(memcached_cell_begin(1, others[i], &cell));
    }
}

TEST(what_others_stored_is_no_cell)
{
    static const char *const texts[] = {
        "",      "-1",    "x",      " 4096", "4096 ",
        "04096", "4096.", "0x1000", "1e6",   "18446744073709551616"};
    const uint32_t flags = memcached_cell_flags(K);
    struct memcached_cell cell;

    assert_true(read_text("4096", flags, &cell));
    for (size_t i = 0; i < COUNT(texts); i++)
        assert_false(read_text(texts[i], flags, &cell));
    assert_false(read_text("4096", 0, &cell));
    assert_false(read_text("4096", 10, &cell)); /* the mark is missing */
    assert_false(read_text("4096", flags | 0x100, &cell));
    assert_false(read_text("4096", flags | 0x3f, &cell));
    assert_false(read_text("2047", flags, &cell)); /* window 0: it wrapped */
    assert_false(read_text("0", flags, &cell));
}

TEST(step_is_bounded_by_want_rest_and_connections)
{
    const struct memcached_cell fresh = cell_at(5, 0);
    const struct memcached_cell old = cell_at(5, K - 3);

    assert_int_equal(memcached_cell_step(&fresh, 1, 16), 1);
    assert_int_equal(memcached_cell_step(&fresh, 1 << 30, 16), 64);
    assert_int_equal(memcached_cell_step(&fresh, 1 << 30, 1024), 1);
    assert_int_equal(memcached_cell_step(&fresh, 1 << 30, 2048), 1);
    assert_int_equal(memcached_cell_step(&fresh, 1 << 30, 1), K);
    assert_int_equal(memcached_cell_step(&old, 1 << 30, 16), 3);
}

TEST(term_is_a_date_above_thirty_days_and_never_past_the_last)
{
    enum { MONTH = 30 * 24 * 3600 };
    static const struct {
        int64_t keep_s;
        int64_t now_s;
        int64_t expiry;
    } rows[] = {
        {0, 1000000000, 0},
        {1, 1000000000, 1},
        {MONTH, 1000000000, MONTH},
        {MONTH + 1, 1000000000, 1000000000 + MONTH + 1},
        {MONTH + 1, INT32_MAX - MONTH - 1, INT32_MAX},
        {MONTH + 2, INT32_MAX - MONTH - 1, INT32_MAX},
        {MONTH + 1, INT32_MAX - MONTH, MONTH},
        {INT64_MAX, 1000000000, INT32_MAX},
        {INT64_MAX, INT32_MAX, MONTH},
        {INT64_MAX, INT64_C(1) << 40, MONTH},
        {60, INT64_C(1) << 40, 60},
    };

    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(memcached_cell_expiry(rows[i].keep_s, rows[i].now_s),
                         rows[i].expiry);
}

TEST(guard_band_holds_every_connection_at_once)
{
    static const int64_t connections[] = {1, 2, 3, 7, 100, 1000, 1023, 1024};

    for (size_t i = 0; i < COUNT(connections); i++) {
        const struct memcached_cell last = cell_at(5, K - 1);
        struct memcached_cell other = cell_at(5, 0);
        int64_t most = 0;

        assert_true(memcached_cell_is_guarded(K, connections[i]));
        /* All but one read an early offset, and count after the last. */
        for (int64_t offset = 0; offset < K; offset++) {
            int64_t step;

            other = cell_at(5, offset);
            step = memcached_cell_step(&other, 1 << 30, connections[i]);
            most = step > most ? step : most;
        }
        assert_true(last.offset + connections[i] * most < 2 * K);
    }
    assert_false(memcached_cell_is_guarded(K, K + 1));
    assert_false(memcached_cell_is_guarded(K, 0));
    assert_false(memcached_cell_is_guarded(K, -1));
}

TEST(grant_is_cut_at_the_end_and_refused_past_it)
{
    static const struct {
        int64_t read;  /* offset found */
        int64_t step;  /* counted */
        int64_t after; /* what the store answered, from the window's start */
        enum seqb_status status;
        int64_t first;
        int64_t count;
    } rows[] = {
        {0, 10, 10, SEQB_OK, 0, 10},
        {0, 10, 30, SEQB_OK, 20, 10}, /* others were faster */
        {K - 10, 10, K, SEQB_OK, K - 10, 10},
        {K - 20, 10, K + 5, SEQB_OK, K - 5, 5},
        {K - 20, 10, K + 9, SEQB_OK, K - 1, 1},
        {K - 20, 10, K + 10, SEQB_EXHAUSTED, 0, 0},
        {K - 20, 10, 2 * K - 1, SEQB_EXHAUSTED, 0, 0},
        {0, 10, 2 * K + 9, SEQB_EXHAUSTED, 0, 0}, /* its start is in the band */
        {0, 10, 2 * K + 10, SEQB_FENCED, 0, 0},   /* another window by now */
        {20, 10, 29, SEQB_FENCED, 0, 0},          /* it went back */
        {0, 10, 9, SEQB_FENCED, 0, 0},
        {0, 10, -1, SEQB_FENCED, 0, 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct memcached_cell cell = cell_at(5, rows[i].read);
        struct seqb_block block = {0, 0};

        assert_int_equal(
            memcached_cell_grant(&cell, rows[i].step,
                                 5 * SPAN + (uint64_t)rows[i].after, &block),
            rows[i].status);
        assert_int_equal(block.first, rows[i].first);
        assert_int_equal(block.count, rows[i].count);
    }
}

TEST(value_below_the_step_is_no_grant)
{
    const struct memcached_cell cell = cell_at(1, 0);
    struct seqb_block block;

    assert_int_equal(memcached_cell_grant(&cell, 10, 9, &block), SEQB_FENCED);
    assert_int_equal(memcached_cell_grant(&cell, 10, 0, &block), SEQB_FENCED);
}

TEST(keys_with_spaces_go_in_base64)
{
    static const struct {
        const char *name;
        const char *text;
        const char *flag;
    } rows[] = {
        {"main/0/order", "p:main/0/order", ""},
        {"%", "p:%", ""},
        {"\303\244", "p:\303\244", ""},
        {" ", "cDog", " b"},
        {"a ", "cDphIA==", " b"},
        {"a b", "cDphIGI=", " b"},
        {"a\r\nb", "cDphDQpi", " b"},
        {"\x7f", "cDp/", " b"},
    };
    struct memcached_key key;

    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_true(memcached_key_make("p", "", rows[i].name, &key));
        assert_string_equal(key.text, rows[i].text);
        assert_string_equal(key.flag, rows[i].flag);
    }
}

TEST(key_that_is_too_long_is_refused)
{
    char name[MEMCACHED_KEY_MAX + 2];
    struct memcached_key key;

    memset(name, 'k', sizeof name);
    name[MEMCACHED_KEY_MAX - 2] = '\0';
    assert_true(memcached_key_make("p", "", name, &key));
    assert_int_equal(strlen(key.text), MEMCACHED_KEY_MAX);
    assert_false(memcached_key_make("p", "c", name, &key));
    name[0] = ' '; /* base64 is longer */
    name[186] = '\0';
    assert_false(memcached_key_make("p", "", name, &key));
    name[184] = '\0';
    assert_true(memcached_key_make("p", "", name, &key));
    assert_int_equal(strlen(key.text), 248);
}
