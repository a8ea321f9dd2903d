/* SPDX-License-Identifier: Apache-2.0 */
/* Structs of a program that was built with another version of the header. */
#include "api/sized.h"

#include <stdint.h>
#include <string.h>

#include "support/test.h"

/* As the first release has it, as the library has it, as a later one has it. */
struct first {
    int64_t a;
};

struct here {
    int64_t a;
    int64_t b;
};

struct later {
    int64_t a;
    int64_t b;
    int64_t c;
};

#define ROOM 2

static struct sized_out out_of(void *to, size_t size)
{
    return (struct sized_out){.name = "here",
                              .to = to,
                              .size = size,
                              .capacity = ROOM,
                              .whole = sizeof(struct here),
                              .first = sizeof(struct first)};
}

/* Writes as many as the library has: more than fit. */
static void fill(struct sized_out *out)
{
    struct here *structs;

    assert_ok(sized_begin(out, NULL));
    structs = out->structs;
    for (int64_t i = 0; i < ROOM; i++)
        structs[i] = (struct here){.a = 10 + i, .b = 20 + i};
    sized_end(out, ROOM + 1);
}

TEST(structs_of_the_same_size_are_written_in_place)
{
    struct here to[ROOM];
    struct sized_out out = out_of(to, sizeof to[0]);

    fill(&out);
    assert_ptr_equal(out.structs, to);
    assert_int_equal(to[1].a, 11);
    assert_int_equal(to[1].b, 21);
}

TEST(a_smaller_struct_gets_what_it_has)
{
    struct first to[ROOM + 1] = {{0}, {0}, {.a = 77}};
    struct sized_out out = out_of(to, sizeof to[0]);

    fill(&out);
    assert_int_equal(to[0].a, 10);
    assert_int_equal(to[1].a, 11);
    assert_int_equal(to[2].a, 77);
}

TEST(a_larger_struct_has_zero_in_the_rest)
{
    struct later to[ROOM + 1];
    struct sized_out out = out_of(to, sizeof to[0]);

    memset(to, 0x55, sizeof to);
    fill(&out);
    for (int64_t i = 0; i < ROOM; i++) {
        assert_int_equal(to[i].a, 10 + i);
        assert_int_equal(to[i].b, 20 + i);
        assert_int_equal(to[i].c, 0);
    }
    assert_int_equal(to[ROOM].a, 0x5555555555555555);
}

TEST(fewer_structs_than_fit_leave_the_rest_alone)
{
    struct later to[ROOM] = {{.a = 1}, {.a = 2}};
    struct sized_out out = out_of(to, sizeof to[0]);

    assert_ok(sized_begin(&out, NULL));
    ((struct here *)out.structs)[0].a = 10;
    sized_end(&out, 1);
    assert_int_equal(to[0].a, 10);
    assert_int_equal(to[1].a, 2);
}

TEST(a_size_that_no_version_has_is_refused)
{
    static const size_t sizes[] = {0, 1, sizeof(struct first) - 1, 4097,
                                   SIZE_MAX};
    struct later to[ROOM];

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct sized_out out = out_of(to, sizes[i]);
        struct seqb_error err = {.text = ""};

        assert_int_equal(sized_begin(&out, &err), SEQB_INVALID);
        assert_non_null(strstr(err.text, "struct here"));
    }
}

TEST(what_is_only_counted_needs_no_struct)
{
    struct sized_out out = out_of(NULL, sizeof(struct later));

    out.capacity = 0;
    assert_ok(sized_begin(&out, NULL));
    assert_null(out.structs);
    sized_end(&out, 5);
}
