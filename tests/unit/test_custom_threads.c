/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that register fields, while others compile templates of these, and
 * write and read numbers with them: each name is taken once, and whoever finds
 * a field finds all of it.
 */
#include <string.h>

#include <pthread.h>
#include <stdatomic.h>

#include "number/template.h"
#include "platform/text.h"
#include "support/test.h"

#define NAMES      SEQB_FIELDS_MAX
#define REGISTRARS 4 /* of which two try each name */
#define USERS      4
#define SHARED     "@{seq, width=6}@{check, algorithm=damm}-@{f0}"
#define ROUNDS     (2000 / SEQB_TEST_SCALE)

struct crew {
    pthread_barrier_t start;
    struct template *shared; /* all of them write and read with it */
    _Atomic(int) registered; /* fields; all of them are there at NAMES */
    _Atomic(int) registrars; /* that are still at work */
    _Atomic(int) failed;     /* what went wrong, in any thread */
};

struct member {
    struct crew *crew;
    pthread_t thread;
    int index;
    int64_t first; /* number that it writes */
};

static enum seqb_status evaluate(void *context,
                                 const struct seqb_field_view *view, char *out,
                                 size_t size, struct seqb_error *err)
{
    (void)context;
    (void)err;
    (void)text_format(out, size, "%04lld", (long long)(view->number % 10000));
    return SEQB_OK;
}

static enum seqb_status parse(void *context, const struct seqb_field_view *view,
                              const char *text, size_t length,
                              struct seqb_error *err)
{
    char right[8];

    (void)evaluate(context, view, right, sizeof right, err);
    return length == 4 && memcmp(text, right, 4) == 0 ? SEQB_OK : SEQB_FOREIGN;
}

static bool add_field(int index)
{
    char name[16];
    const struct seqb_field field = {
        .name = name,
        .phase = index % (SEQB_PHASE_MAX + 1),
        .min_length = 4,
        .max_length = 4,
        .evaluate = evaluate,
        .parse = parse,
    };

    (void)text_format(name, sizeof name, "f%d", index);
    return seqb_register_field(&field, NULL) == SEQB_OK;
}

static void *registrar_run(void *argument)
{
    struct member *member = argument;
    struct crew *crew = member->crew;

    (void)pthread_barrier_wait(&crew->start);
    /* The field f0 is there. */
    for (int i = 1; i < NAMES; i++) {
        if (i % 2 == member->index % 2 && add_field(i))
            atomic_fetch_add(&crew->registered, 1);
    }
    atomic_fetch_sub(&crew->registrars, 1);
    return NULL;
}

/* Writes a number, and reads it. */
static bool comes_back(const struct template *template, int64_t number)
{
    const struct facts facts = {.key = "order", .number = number};
    struct facts back = {.key = "order", .shard = -1};
    struct draft draft;
    struct seqb_error err;
    char text[SEQB_TEXT_MAX + 1];

    return template_begin(template, &facts, &draft, &err) == SEQB_OK &&
           template_write(&draft, text, &err) == SEQB_OK &&
           template_read(template, text, strlen(text), &back, &err) ==
               SEQB_OK &&
           back.number == number;
}

/* With a template of its own, of a field that may not be there yet. Tells
 * whether it was. */
static bool use_field(struct crew *crew, int index, int64_t number)
{
    static const struct template_rules rules = {.key = "order"};
    struct template *template = NULL;
    struct seqb_error err = {SEQB_OK, ""};
    char text[64];

    (void)text_format(text, sizeof text, "@{seq}-@{f%d}", index);
    if (template_make(text, &rules, &template, &err) != SEQB_OK) {
        if (strncmp(err.text, "column 10: ", 11) != 0)
            atomic_fetch_add(&crew->failed, 1);
        return false;
    }
    if (!comes_back(template, number))
        atomic_fetch_add(&crew->failed, 1);
    template_free(template);
    return true;
}

/* Until all fields are there, and then some more. */
static void *user_run(void *argument)
{
    struct member *member = argument;
    struct crew *crew = member->crew;
    int64_t number = member->first;
    int rounds = 0;

    (void)pthread_barrier_wait(&crew->start);
    while (rounds < ROUNDS) {
        const bool are_all = atomic_load(&crew->registrars) == 0;

        number++;
        if (!comes_back(crew->shared, number))
            atomic_fetch_add(&crew->failed, 1);
        if (!use_field(crew, (int)(number % NAMES), number) && are_all)
            atomic_fetch_add(&crew->failed, 1);
        rounds += are_all;
    }
    return NULL;
}

TEST(fields_are_registered_once_while_others_use_them)
{
    static const struct template_rules rules = {.key = "order"};
    struct crew crew = {.registered = 1, .registrars = REGISTRARS};
    struct member members[REGISTRARS + USERS];

    assert_true(add_field(0));
    assert_ok(template_make(SHARED, &rules, &crew.shared, NULL));
    assert_int_equal(
        pthread_barrier_init(&crew.start, NULL, REGISTRARS + USERS), 0);
    for (int i = 0; i < REGISTRARS + USERS; i++) {
        members[i] = (struct member){
            .crew = &crew, .index = i, .first = 1 + 1000000 * (int64_t)i};
        assert_int_equal(
            pthread_create(&members[i].thread, NULL,
                           i < REGISTRARS ? registrar_run : user_run,
                           &members[i]),
            0);
    }
    for (int i = 0; i < REGISTRARS + USERS; i++)
        assert_int_equal(pthread_join(members[i].thread, NULL), 0);
    pthread_barrier_destroy(&crew.start);
    template_free(crew.shared);
    assert_int_equal(crew.failed, 0);
    assert_int_equal(crew.registered, NAMES);
}
