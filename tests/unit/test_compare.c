/* SPDX-License-Identifier: Apache-2.0 */
/* Which template a sequence may change to while it is served. How two templates
 * compare is scripted. */
#include "queue/reload/compare.h"

#include <string.h>

#include "platform/error.h"
#include "support/test.h"

/* Only their addresses are used. FIRST may be followed by LIKE_FIRST, which
 * means the same, and by WIDER. No other may follow another one. */
enum { FIRST, LIKE_FIRST, WIDER, OTHER, NONE };
static const char templates[NONE];
static int compared;

static const struct template *template_of(int which)
{
    return which == NONE ? NULL : (const void *)&templates[which];
}

static enum seqb_status script_compare(const struct template *runs,
                                       const struct template *next,
                                       bool *is_same, struct seqb_error *err)
{
    compared++;
    *is_same = next == template_of(LIKE_FIRST);
    return runs == template_of(FIRST) &&
                   (*is_same || next == template_of(WIDER))
               ? SEQB_OK
               : error_set(err, SEQB_LAYOUT, "scripted");
}

/* In one reload, one after the other. */
static const struct {
    int runs;
    int next;
    const char *refusal; /* NULL: it may follow */
    bool has_other_texts;
    int compared;
} sequences[] = {
    {FIRST, FIRST, NULL, false, 0},
    {FIRST, NONE, NULL, false, 0},
    {NONE, NONE, NULL, false, 0},
    {NONE, WIDER, "it has none now", false, 0},
    {FIRST, OTHER, "scripted", false, 1},
    {FIRST, OTHER, "scripted", false, 2},
    {FIRST, LIKE_FIRST, NULL, false, 3},
    {FIRST, LIKE_FIRST, NULL, false, 3},
    {FIRST, WIDER, NULL, true, 4},
    {FIRST, WIDER, NULL, true, 4},
    {OTHER, WIDER, "scripted", true, 5},
    {FIRST, OTHER, "scripted", true, 6},
    {FIRST, LIKE_FIRST, NULL, true, 7},
};

TEST(template_follows_only_one_that_it_was_compared_with)
{
    const struct queue_options options = {.compare_templates = script_compare};
    struct comparison comparison = {.options = &options};

    for (size_t i = 0; i < COUNT_OF(sequences); i++) {
        const struct queue_sequence_options wanted = {
            .template = template_of(sequences[i].next)};
        struct seqb_error err = {.text = ""};
        const enum seqb_status status = compare_texts(
            &comparison, "key", template_of(sequences[i].runs), &wanted, &err);

        assert_int_equal(status,
                         sequences[i].refusal == NULL ? SEQB_OK : SEQB_LAYOUT);
        if (sequences[i].refusal != NULL)
            assert_non_null(strstr(err.text, sequences[i].refusal));
        assert_int_equal(comparison.has_other_texts,
                         sequences[i].has_other_texts);
        assert_int_equal(compared, sequences[i].compared);
    }
}
