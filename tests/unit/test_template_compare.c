/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which template may follow which. All small templates are made of some pieces,
 * each with each: where the change is allowed, no text of one may be a text of
 * the other for another number or day.
 */
#include <stdlib.h>
#include <string.h>

#include "number/number.h"
#include "platform/text.h"
#include "support/failure.h"
#include "support/test.h"
#include "template_case.h"

#define PIECES      3 /* of a template, at most */
#define TEXT_SIZE   20
#define TEMPLATE    128
#define MOST        2048   /* templates */
#define MOST_TEXTS  400000 /* of all of them */
#define OTHER_STAMP INT64_C(20211126)

static const char *const values[] = {"1", "2", "12"};

/* One text, and what it is of. */
struct issued {
    char text[TEXT_SIZE];
    int64_t number;
    int64_t stamp;
    size_t by; /* index of the template */
};

struct all {
    struct template_rules rules;
    struct template *templates[MOST];
    char *texts[MOST]; /* what the templates were made of */
    size_t count;
    struct issued *issued;
    size_t issued_count;
    size_t allowed; /* pairs */
    size_t repeats; /* pairs that are not allowed and have a text in common */
    bool (*is_allowed)[MOST];
    bool (*is_repeat)[MOST];
};

static void add_template(struct all *all, const char *text)
{
    struct template *template;
    struct seqb_error err;

    if (template_make(text, &all->rules, &template, &err) != SEQB_OK)
        return;
    assert_true(all->count < MOST);
    all->texts[all->count] = strdup(text);
    all->templates[all->count++] = template;
}

/* Each of 1 ... PIECES pieces. */
static void add_templates(struct all *all, const char *const *pieces,
                          size_t left, const char *begin)
{
    for (size_t i = 0; pieces[i] != NULL && left > 0; i++) {
        char text[TEMPLATE];

        (void)text_format(text, sizeof text, "%s%s", begin, pieces[i]);
        add_template(all, text);
        add_templates(all, pieces, left - 1, text);
    }
}

static void add_text(struct all *all, size_t by, int64_t number, int64_t stamp,
                     const char *value)
{
    const struct template *template = all->templates[by];
    const struct seqb_param param = {"x", value};
    const bool has_param = template->param_count > 0;
    struct issued *issued = &all->issued[all->issued_count];
    char text[SEQB_TEXT_MAX + 1];
    struct facts facts;

    if (has_param && strlen(value) > template->params[0]->max)
        return;
    case_facts(template, number, &param, has_param, &facts);
    if (stamp != 0)
        case_set_day(&facts, stamp);
    if (case_write(template, &facts, text, NULL) != SEQB_OK)
        return; /* it refuses so great a number */
    assert_true(all->issued_count < MOST_TEXTS && strlen(text) < TEXT_SIZE);
    (void)text_copy(issued->text, sizeof issued->text, text);
    issued->number = number;
    issued->stamp = stamp;
    issued->by = by;
    all->issued_count++;
}

static void add_texts(struct all *all, size_t by, int64_t stamp)
{
    for (int64_t number = 1; number <= 123; number++) {
        const size_t count = all->templates[by]->param_count > 0 ? 3 : 1;

        if (number == 26)
            number = 98;
        for (size_t i = 0; i < count; i++)
            add_text(all, by, number, stamp, values[i]);
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct issued *)a)->text,
                  ((const struct issued *)b)->text);
}

/* Two of one text, of different numbers or days. */
static void add_repeat(struct all *all, const struct issued *a,
                       const struct issued *b)
{
    if (all->is_allowed[a->by][b->by])
        fail_msg("'%s' is %d of %d by %s, and %d of %d by %s", a->text,
                 (int)a->number, (int)a->stamp, all->texts[a->by],
                 (int)b->number, (int)b->stamp, all->texts[b->by]);
    all->repeats += !all->is_repeat[a->by][b->by];
    all->is_repeat[a->by][b->by] = true;
}

/* Of the same text. */
static void find_repeats(struct all *all, const struct issued *from,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            if (from[i].number != from[j].number ||
                from[i].stamp != from[j].stamp)
                add_repeat(all, &from[i], &from[j]);
        }
    }
}

static void compare(struct all *all, size_t i, size_t j)
{
    bool is_same;
    const bool is_allowed =
        template_compare(all->templates[i], all->templates[j], &is_same,
                         NULL) == SEQB_OK;

    if (is_same && is_allowed && i != j)
        fail_msg("%s is said to be %s", all->texts[i], all->texts[j]);
    all->is_allowed[i][j] = is_allowed;
    all->allowed += is_allowed && i != j;
}

static void compare_all(struct all *all)
{
    for (size_t i = 0; i < all->count; i++) {
        for (size_t j = 0; j < all->count; j++)
            compare(all, i, j);
    }
}

static bool has_same_successors(const struct all *all, size_t i, size_t j)
{
    return memcmp(all->is_allowed[i], all->is_allowed[j],
                  sizeof all->is_allowed[i]) == 0;
}

/* The first one that may follow it and has other successors; or the count. */
static size_t find_other(const struct all *all, size_t i)
{
    size_t j = 0;

    while (j < all->count &&
           (!all->is_allowed[i][j] || has_same_successors(all, i, j)))
        j++;
    return j;
}

/* What may follow a template may follow each that it may follow: else a
 * sequence could come to a repeat in several steps. */
static void expect_equivalence(const struct all *all)
{
    for (size_t i = 0; i < all->count; i++) {
        const size_t other = find_other(all, i);

        assert_true(all->is_allowed[i][i]);
        if (other < all->count)
            fail_msg("%s, %s: one of them has other successors", all->texts[i],
                     all->texts[other]);
    }
}

static void all_free(struct all *all)
{
    for (size_t i = 0; i < all->count; i++) {
        template_free(all->templates[i]);
        free(all->texts[i]);
    }
    free(all->issued);
    free(all->is_allowed);
    free(all->is_repeat);
}

/* At least `allowed` pairs may follow each other, and `repeats` pairs are found
 * which may not, or the pieces were not worth the trial. */
static void expect_no_repeats(const struct template_rules *rules,
                              const char *const *pieces, size_t allowed,
                              size_t repeats)
{
    struct all all = {.rules = *rules};
    size_t from = 0;

    all.issued = calloc(MOST_TEXTS, sizeof *all.issued);
    all.is_allowed = calloc(MOST, sizeof *all.is_allowed);
    all.is_repeat = calloc(MOST, sizeof *all.is_repeat);
    assert_true(all.issued != NULL && all.is_allowed != NULL &&
                all.is_repeat != NULL);
    add_templates(&all, pieces, PIECES, "");
    for (size_t i = 0; i < all.count; i++) {
        add_texts(&all, i, rules->period == NULL ? 0 : CASE_STAMP);
        if (rules->period != NULL)
            add_texts(&all, i, OTHER_STAMP);
    }
    compare_all(&all);
    expect_equivalence(&all);
    qsort(all.issued, all.issued_count, sizeof *all.issued, by_text);
    for (size_t i = 1; i <= all.issued_count; i++) {
        if (i < all.issued_count &&
            by_text(&all.issued[from], &all.issued[i]) == 0)
            continue;
        find_repeats(&all, &all.issued[from], i - from);
        from = i;
    }
    print_message("%zu templates, %zu texts: %zu changes are allowed, %zu "
                  "would repeat\n",
                  all.count, all.issued_count, all.allowed, all.repeats);
    assert_true(all.allowed >= allowed && all.repeats >= repeats);
    all_free(&all);
}

TEST(no_allowed_change_repeats_a_text)
{
    static const char *const pieces[] = {"1",
                                         "-",
                                         "@{seq, width=1, overflow=refuse}",
                                         "@{seq, width=2, overflow=refuse}",
                                         "@{seq}",
                                         "@{seq, width=2}",
                                         "@{seq, width=2, base=16}",
                                         "@{shuffle, width=1, overflow=refuse}",
                                         "@{shuffle, width=2}",
                                         "@{param, name=x, width=1}",
                                         "@{param, name=x, max=2}",
                                         "@{check, algorithm=luhn, over=seq}",
                                         NULL};
    struct template_rules rules = case_rules();

    rules.period = NULL;
    expect_no_repeats(&rules, pieces, 100, 1000);
}

TEST(no_allowed_change_repeats_a_text_of_another_day)
{
    static const char *const pieces[] = {"0",
                                         "@{date, format=%y%m%d}",
                                         "@{date, format=%d%m%y}",
                                         "@{seq, width=1, overflow=refuse}",
                                         "@{seq, width=2, overflow=refuse}",
                                         "@{seq}",
                                         "@{seq, width=2}",
                                         "@{shuffle, width=1, overflow=refuse}",
                                         "@{shuffle, width=1}",
                                         "@{param, name=x, width=1}",
                                         NULL};
    const struct template_rules rules = case_rules();

    expect_no_repeats(&rules, pieces, 50, 100);
}

/* --- by name --- */

struct change {
    const char *runs;
    const char *next;
    const char *why; /* NULL: it is allowed */
};

static void expect_change(const struct template_rules *rules,
                          const struct change *row)
{
    struct template *runs = case_make(row->runs, rules);
    struct template *next = case_make(row->next, rules);
    struct seqb_error err = {.text = ""};
    bool is_same = true;
    const enum seqb_status status =
        template_compare(runs, next, &is_same, &err);

    if ((row->why == NULL) != (status == SEQB_OK) ||
        (row->why != NULL && strstr(err.text, row->why) == NULL))
        fail_msg("%s -> %s: %s", row->runs, row->next, err.text);
    if (row->why == NULL)
        assert_int_equal(is_same, strcmp(row->runs, row->next) == 0);
    template_free(next);
    template_free(runs);
}

TEST(change_is_allowed_or_says_what_could_repeat)
{
#define DAY "@{date}"
    static const struct change rows[] = {
        {DAY "@{seq, width=6}", DAY "@{seq, width=6}", NULL},
        {DAY "@{seq, width=6}", DAY "@{seq, width=7}", NULL},
        {DAY "@{seq, width=6}", DAY "@{seq}", NULL},
        {DAY "@{seq, width=6, overflow=refuse}", DAY "@{seq, width=7}", NULL},
        {DAY "@{shuffle, width=5}", DAY "@{shuffle, width=6}", NULL},
        {DAY "@{seq, width=5}-@{check, algorithm=luhn}",
         DAY "@{seq, width=6}-@{check, algorithm=luhn}", NULL},
        {DAY "@{param, name=a, max=3}-@{seq}",
         DAY "@{param, name=a, max=9, default=x}-@{seq, width=2}", NULL},
        /* 0001 12 and 00011 2 */
        {DAY "@{seq, width=4, overflow=refuse}@{param, name=a, max=2}",
         DAY "@{seq, width=5, overflow=refuse}@{param, name=a, max=2}",
         "where a number ends"},
        {DAY "@{seq}", DAY "@{seq, base=16}", "base"},
        {DAY "@{seq}", DAY "1@{seq}", "more or fewer fields"},
        {"A" DAY "@{seq}", "B" DAY "@{seq}", "other characters"},
        {"A" DAY "@{seq}", "AB" DAY "@{seq}", "other characters"},
        {DAY "-@{seq}", "@{seq}-" DAY, "other places"},
        {"@{date, format=%y%m%d}@{seq}", "@{date, format=%d%m%y}@{seq}",
         "another date"},
        {DAY "@{seq}", DAY "@{seq}@{check, algorithm=luhn}",
         "more or fewer fields"},
        {DAY "@{seq}@{check, algorithm=damm}",
         DAY "@{seq}@{check, algorithm=luhn}", "check digit"},
        {DAY "@{param, name=a, width=2}@{seq}",
         DAY "@{param, name=a, width=3}@{seq}", "ends elsewhere"},
        {DAY "@{param, name=a}-@{seq}", DAY "@{param, name=b}-@{seq}",
         "another parameter"},
        {DAY "@{shuffle, width=5}", DAY "@{seq, width=5}", "other places"},
    };
#undef DAY
    const struct template_rules rules = case_rules();

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        expect_change(&rules, &rows[i]);
}

TEST(templates_of_another_key_or_shard_are_not_exchanged)
{
    const struct template_rules rules = case_rules();
    const struct template_rules of_ids = case_rules_of_ids();
    static const struct change shard = {
        "@{date}@{seq, width=6}@{shard, width=4}",
        "@{date}@{seq, width=6}@{shard, width=5}", "a shard"};
    struct template_rules other = rules;
    struct shuffle_key key = {{1}};
    struct template *runs = case_make("@{date}@{shuffle, width=5}", &rules);
    struct template *next;
    bool is_same;

    other.shuffle_key = &key;
    next = case_make("@{date}@{shuffle, width=6}", &other);
    assert_fails(template_compare(runs, next, &is_same, &failure), SEQB_LAYOUT,
                 "another key makes codes again");
    template_free(next);
    template_free(runs);
    expect_change(&of_ids, &shard);
}
