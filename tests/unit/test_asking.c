/* SPDX-License-Identifier: Apache-2.0 */
/* In which order the stores are asked if there are several pools, and which
 * counters are claimed. The test is all visits: it answers by counter. What a
 * visit asks is in test_admit.c and test_unasked.c. */
#include <string.h>
#include <sys/mman.h>

#include "ha/admission/admission.h"
#include "ha/startup.h"
#include "platform/text.h"
#include "support/wrap.h"
#include "unit/slot_fixture.h"

#define COUNTERS  4 /* "a", "b", "c", "d" */
#define BACKENDS  3
#define VERY_MANY AWAITS_OWN_POOL /* backends */
#define VISITS    5
#define ARRAYS    3 /* allocated before the first visit */

/* A letter for each counter. */
static const struct asking_row {
    /* '.' every store answers, '0' to '2' those from this one on do not, 'z'
     * only the last one of very many does not, '-' none is concerned, 'c' it is
     * closed, and no store answers. */
    const char *elsewhere;
    const char *known;   /* 'k' it is, 'r' it is, and was refused before, 'c' it
                            is, and is closed, '.' it is not */
    const char *note;    /* '.' it is noted, 'c' it is closed as well, '-' it is
                            not noted, 'C' it is closed instead */
    const char *own;     /* as `known`, of those that are not noted */
    const char *log;     /* '+': other counters wait, or are refused */
    const char *awaited; /* '0' none, '1' to '3' a store, 'm' one of very many,
                            'o' its own pool */
} rows[] = {
    {.elsewhere = "", .log = "elsewhere ;", .awaited = ""},
    {.elsewhere = ".",
     .note = ".",
     .log = "elsewhere a;note a;copy a;",
     .awaited = "0"},
    {.elsewhere = "0",
     .known = ".",
     .log = "elsewhere a;known a;",
     .awaited = "1"},
    {.elsewhere = "-0.2",
     .known = " . k",
     .note = ". ..",
     .log = "elsewhere abcd;known bd;note acd+;copy acd+;",
     .awaited = "0100"},
    {.elsewhere = "01",
     .known = "k.",
     .note = ".",
     .log = "elsewhere ab;known ab;note a+;copy a+;",
     .awaited = "02"},
    {.elsewhere = "c2c-",
     .known = " .",
     .note = "   .",
     .log = "elsewhere abcd;known b;note d+;copy d+;",
     .awaited = "0300"},
    {.elsewhere = "00",
     .known = "rk",
     .note = " .",
     .log = "elsewhere ab;known ab;note b+;copy b+;",
     .awaited = "10"},
    {.elsewhere = "00",
     .known = "ck",
     .note = " .",
     .log = "elsewhere ab;known ab;note b+;copy b+;",
     .awaited = "10"},
    {.elsewhere = "0.",
     .known = "k",
     .note = "..",
     .log = "elsewhere ab;known a;note ab;copy ab;",
     .awaited = "00"},
    {.elsewhere = "..",
     .note = "--",
     .own = "..",
     .log = "elsewhere ab;note ab;known ab;",
     .awaited = "oo"},
    {.elsewhere = "..",
     .note = "--",
     .own = "k.",
     .log = "elsewhere ab;note ab;known ab;copy a+;",
     .awaited = "0o"},
    {.elsewhere = "....",
     .note = ".-.-",
     .own = " k .",
     .log = "elsewhere abcd;note abcd;known bd;copy abc+;",
     .awaited = "000o"},
    {.elsewhere = "....",
     .note = "-C-.",
     .own = ". r",
     .log = "elsewhere abcd;note abcd;known ac;copy d+;",
     .awaited = "o0o0"},
    {.elsewhere = "..",
     .note = "c.",
     .log = "elsewhere ab;note ab;copy b+;",
     .awaited = "00"},
    {.elsewhere = "..",
     .note = "-.",
     .own = "c",
     .log = "elsewhere ab;note ab;known a;copy b+;",
     .awaited = "o0"},
    {.elsewhere = "z",
     .known = ".",
     .log = "elsewhere a;known a;",
     .awaited = "m"},
};

/* Every visit is made. */
static const struct asking_row long_row = {
    .elsewhere = ".0",
    .known = " k",
    .note = ".-",
    .own = " k",
    .log = "elsewhere ab;known b;note ab;known b;copy ab;",
    .awaited = "00"};

static struct {
    struct ha ha;
    struct ha_options options;
    struct ha_counter *counters[COUNTERS];
    const struct asking_row *row;
    struct admission *made[VISITS];
    int visits;
    int fails_at; /* that visit fails; -1: none does */
    char log[128];
} scene;

static bool is_admitting;
static int allocations;     /* since it began */
static int no_memory_at;    /* the one that fails; -1: none does */
static int allocated_count; /* and not freed */

/* Behind the memory is a counter that is NULL, for a loop that goes too far. */
WRAPPED(void *, calloc, size_t n, size_t size)
{
    if (!is_admitting)
        return __real_calloc(n, size);
    if (allocations++ == no_memory_at || n > SIZE_MAX / 2 / size)
        return NULL;
    allocated_count++;
    return __real_calloc(1, n * size + sizeof(struct admitted));
}

WRAPPED(void, free, void *memory)
{
    allocated_count -= is_admitting && memory != NULL;
    __real_free(memory);
}

static char letter_of(const char *letters, const struct ha_counter *counter)
{
    return letters[counter->key[0] - 'a'];
}

static bool concerns(const struct worker *worker,
                     const struct ha_counter *counter)
{
    assert_true(worker < scene.ha.workers + scene.options.backend_count);
    return letter_of(scene.row->elsewhere, counter) != '-';
}

extern const struct visit __wrap_visit_elsewhere;
const struct visit __wrap_visit_elsewhere = {.concerns = concerns};

/* From the first store on. */
static size_t answer_count(char letter)
{
    if (letter >= '0' && letter <= '2')
        return (size_t)(letter - '0');
    if (letter == 'z')
        return scene.options.backend_count - 1;
    return letter == '.' ? scene.options.backend_count : 0;
}

static void answer_elsewhere(struct admission *admission, size_t i)
{
    struct ha_counter *counter = admission->admitted[i].counter;
    const char letter = letter_of(scene.row->elsewhere, counter);

    memset(admission_answers(admission, i, scene.options.backend_count), true,
           answer_count(letter));
    counter->is_void = letter == 'c';
}

static void answer_note(struct admitted *admitted)
{
    const char letter = letter_of(scene.row->note, admitted->counter);

    admitted->is_noted = letter == '.' || letter == 'c';
    admitted->counter->is_void = letter == 'c' || letter == 'C';
}

/* A refusal is one of the visit before this. */
static void answer_known(struct admitted *admitted)
{
    struct admission *before = scene.made[scene.visits - 1];
    const char *letters =
        before->visit == &visit_note ? scene.row->own : scene.row->known;
    const char letter = letter_of(letters, admitted->counter);

    admitted->is_known = letter != '.';
    admitted->counter->is_void = letter == 'c';
    for (size_t i = 0; i < before->count; i++) {
        if (before->admitted[i].counter == admitted->counter)
            before->admitted[i].is_refused = letter == 'r';
    }
}

static const char *answer(struct admission *admission)
{
    const struct visit *visit = admission->visit;

    for (size_t i = 0; i < admission->count; i++) {
        if (visit == &visit_known)
            answer_known(&admission->admitted[i]);
        else if (visit == &visit_note)
            answer_note(&admission->admitted[i]);
        else if (visit != &visit_copy)
            answer_elsewhere(admission, i);
    }
    return visit == &visit_known  ? "known "
           : visit == &visit_note ? "note "
           : visit == &visit_copy ? "copy "
                                  : "elsewhere ";
}

static void log_append(const char *text)
{
    assert_true(text_append(scene.log, sizeof scene.log, "%s", text));
}

WRAPPED(enum seqb_status, visit_run, struct ha *ha, struct admission *admission,
        struct seqb_error *err)
{
    assert_ptr_equal(ha, &scene.ha);
    if (admission == NULL)
        return error_set(err, SEQB_NO_MEMORY, "admission: out of memory");
    assert_true(scene.visits < VISITS);
    log_append(answer(admission));
    for (size_t i = 0; i < admission->count; i++)
        log_append(admission->admitted[i].counter->key);
    log_append(admission->is_part ? "+;" : ";");
    scene.made[scene.visits] = admission;
    return scene.visits++ != scene.fails_at
               ? SEQB_OK
               : error_set(err, SEQB_LAYOUT, "another layout");
}

/* Each is ended once. */
WRAPPED(void, visit_end, struct admission *admission)
{
    int i = 0;

    while (admission != NULL && scene.made[i] != admission)
        assert_true(++i < VISITS);
    if (admission != NULL)
        scene.made[i] = NULL;
    __real_visit_end(admission);
}

WRAPPED(enum seqb_status, claim_all, struct ha *ha,
        struct ha_counter *const *counters, size_t count,
        struct seqb_error *err)
{
    assert_ptr_equal(ha, &scene.ha);
    assert_ptr_equal(counters, scene.counters);
    assert_int_equal(count, COUNTERS);
    return error_set(err, SEQB_LAYOUT, "claimed");
}

/* Most of it is never touched. */
static struct worker *workers_map(void)
{
    void *workers =
        mmap(NULL, VERY_MANY * sizeof(struct worker), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    assert_ptr_not_equal(workers, MAP_FAILED);
    return workers;
}

static int setup_asking(void **state)
{
    static const char *const keys[COUNTERS] = {"a", "b", "c", "d"};
    struct fixture *f;

    (void)setup_direct(state);
    f = *state;
    scene.options.pool_count = 2;
    scene.ha.options = &scene.options;
    scene.ha.workers = workers_map();
    for (size_t i = 0; i < BACKENDS; i++)
        scene.ha.workers[i].all = scene.ha.workers;
    scene.ha.workers[VERY_MANY - 1].all = scene.ha.workers;
    for (size_t i = 0; i < COUNTERS; i++)
        assert_ok(ha_counter_new(&f->pool, keys[i], MEMORY_BITS, &f->sink,
                                 &scene.counters[i], NULL));
    return 0;
}

static int teardown_asking(void **state)
{
    for (size_t i = 0; i < COUNTERS; i++)
        ha_counter_free(scene.counters[i]);
    assert_int_equal(
        munmap(scene.ha.workers, VERY_MANY * sizeof(struct worker)), 0);
    return teardown(state);
}

#define ASKING FIXTURE(struct fixture *f, setup_asking, teardown_asking)

static enum seqb_status admit(const struct asking_row *row, int fails_at,
                              int no_memory, struct seqb_error *err)
{
    const bool is_many = row->elsewhere[0] == 'z';
    enum seqb_status status;

    scene.row = row;
    scene.options.backend_count = is_many ? VERY_MANY : BACKENDS;
    scene.visits = 0;
    scene.fails_at = fails_at;
    scene.log[0] = '\0';
    for (size_t i = 0; i < COUNTERS; i++) {
        scene.counters[i]->is_void = false;
        scene.counters[i]->awaited = 9;
    }
    allocations = 0;
    no_memory_at = no_memory;
    is_admitting = true;
    status = ha_admit(&scene.ha, scene.counters, strlen(row->elsewhere), err);
    is_admitting = false;
    assert_int_equal(allocated_count, 0);
    return status;
}

static int awaited_of(char letter)
{
    return letter == 'o'   ? AWAITS_OWN_POOL
           : letter == 'm' ? AWAITS_OWN_POOL - 1
                           : letter - '0';
}

TEST_WITH(ASKING, counter_is_claimed_once_all_who_may_know_it_have_answered)
{
    (void)f;
    for (size_t n = 0; n < COUNT_OF(rows); n++) {
        const struct asking_row *row = &rows[n];

        print_message("  row %zu\n", n);
        assert_ok(admit(row, -1, -1, NULL));
        assert_string_equal(scene.log, row->log);
        for (size_t i = 0; i < strlen(row->awaited); i++)
            assert_int_equal(scene.counters[i]->awaited,
                             awaited_of(row->awaited[i]));
    }
}

TEST_WITH(ASKING, nothing_is_asked_after_a_visit_that_failed)
{
    struct seqb_error err;
    size_t length = 0;

    (void)f;
    for (int at = 0; at < VISITS; at++) {
        assert_int_equal(admit(&long_row, at, -1, &err), SEQB_LAYOUT);
        assert_string_equal(err.text, "another layout");
        length += strcspn(&long_row.log[length], ";") + 1;
        assert_int_equal(strlen(scene.log), length);
        assert_memory_equal(scene.log, long_row.log, length);
    }
    assert_string_equal(scene.log, long_row.log);
}

/* Each visit has an array of counters, and the first one of answers as well. */
TEST_WITH(ASKING, nothing_is_claimed_without_memory)
{
    struct seqb_error err;

    (void)f;
    for (int at = 0; at < ARRAYS + VISITS + 1; at++) {
        assert_int_equal(admit(&long_row, -1, at, &err), SEQB_NO_MEMORY);
        assert_string_equal(err.text, "admission: out of memory");
        assert_true(at >= ARRAYS || scene.log[0] == '\0');
    }
    assert_ok(admit(&long_row, -1, ARRAYS + VISITS + 1, NULL));
}

TEST_WITH(ASKING, counters_of_a_single_pool_are_claimed_at_once)
{
    struct seqb_error err;

    (void)f;
    scene.options.pool_count = 1;
    assert_int_equal(
        admit(&(struct asking_row){.elsewhere = "...."}, -1, -1, &err),
        SEQB_LAYOUT);
    assert_string_equal(err.text, "claimed");
    assert_int_equal(scene.visits, 0);
}
