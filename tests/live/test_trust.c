/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operator's word for a lessor that waits for another one: what it writes,
 * and for whom it is refused.
 */
#include <stdio.h>
#include <stdlib.h>

#include "backends/backends.h"
#include "platform/text.h"
#include "scene.h"
#include "store/store.h"
#include "support/test.h"

#define CLAIM "synced/main~2"

static const char topology[] =
    "backends = ( { name = \"a\"; engine = \"%s\"; path = \"a.db\"; },"
    "             { name = \"b\"; engine = \"%s\"; path = \"b.db\"; } );"
    "pools = ( { name = \"main\"; generation = %d; partitions = [ \"a\", "
    "            \"b\" ]; authority = \"%s\"; timeout = \"1m\"; } );"
    "sequences = ( { key = \"order\"; deadline = \"1m\"; } );";

/* --- the engine: SQLite's, in a backend that has another incarnation --- */

struct shell {
    struct seqb_backend base;
    struct seqb_backend *inner;
};

static struct seqb_backend_ops shell; /* filled by make_pool */
static const struct seqb_backend_ops *const engines[] = {&shell, NULL};
static const char *run;  /* the incarnation of all stores */
static const char *loss; /* what their settings lose */

static struct seqb_backend *inner_of(struct seqb_backend *backend)
{
    return ((struct shell *)(void *)backend)->inner;
}

static enum seqb_status shell_reserve(struct seqb_backend *backend,
                                      struct seqb_request *requests, size_t n,
                                      struct seqb_error *err)
{
    return backend_sqlite.reserve(inner_of(backend), requests, n, err);
}

static enum seqb_status shell_raise(struct seqb_backend *backend,
                                    const struct seqb_raise *raise,
                                    int64_t *out, struct seqb_error *err)
{
    return backend_sqlite.raise(inner_of(backend), raise, out, err);
}

static enum seqb_status shell_install(struct seqb_backend *backend,
                                      const struct seqb_window *window,
                                      int64_t *standing, struct seqb_error *err)
{
    return backend_sqlite.install(inner_of(backend), window, standing, err);
}

static enum seqb_status shell_claim(struct seqb_backend *backend,
                                    const char *name, const char *text,
                                    char *standing, size_t size,
                                    struct seqb_error *err)
{
    return backend_sqlite.claim(inner_of(backend), name, text, standing, size,
                                err);
}

static enum seqb_status shell_swap(struct seqb_backend *backend,
                                   const struct seqb_swap *swap, char *standing,
                                   size_t size, struct seqb_error *err)
{
    return backend_sqlite.swap(inner_of(backend), swap, standing, size, err);
}

static enum seqb_status shell_list(struct seqb_backend *backend,
                                   struct seqb_page *page,
                                   struct seqb_error *err)
{
    (void)backend;
    (void)err;
    page->count = 0;
    return SEQB_OK;
}

static void shell_close(struct seqb_backend *backend)
{
    if (backend == NULL)
        return;
    backend_sqlite.close(inner_of(backend));
    free(backend);
}

static const char *shell_library(void)
{
    return "shell 1";
}

static enum seqb_status shell_open(const struct seqb_backend_options *options,
                                   struct seqb_backend **out,
                                   struct seqb_error *err)
{
    struct seqb_backend *inner = NULL;
    struct shell *made;

    if (backend_sqlite.open(options, &inner, err) != SEQB_OK)
        return err->status;
    made = calloc(1, sizeof *made);
    assert_non_null(made);
    *made = (struct shell){.base = *inner, .inner = inner};
    made->base.ops = &shell;
    (void)text_copy(made->base.incarnation, sizeof made->base.incarnation, run);
    (void)text_copy(made->base.loss, sizeof made->base.loss, loss);
    *out = &made->base;
    return SEQB_OK;
}

/* --- the pool --- */

static const char *write_topology(struct scene *scene, int generation)
{
    const bool is_first = generation == 1;
    const char *engine = is_first ? "sqlite" : "mine";
    char text[SCENE_TEXT_SIZE];

    assert_true(text_format(text, sizeof text, topology, engine, engine,
                            generation, is_first ? "none" : "neighbours"));
    return scene_write(scene, is_first ? "1.conf" : "2.conf", text);
}

/* A pool of neighbours, whose stores were used. */
static const char *make_pool(struct scene *scene)
{
    const struct seqb_migrate_options options = {.engines = engines};
    struct seqb_error err = {.text = ""};
    const char *was;
    const char *path;

    shell = (struct seqb_backend_ops){.engine = "mine",
                                      .guarantee = SEQB_DIRECT,
                                      .library = shell_library,
                                      .open = shell_open,
                                      .reserve = shell_reserve,
                                      .raise = shell_raise,
                                      .install = shell_install,
                                      .claim = shell_claim,
                                      .swap = shell_swap,
                                      .list = shell_list,
                                      .close = shell_close};
    run = "run-1";
    loss = "";
    was = write_topology(scene, 1);
    path = write_topology(scene, 2);
    scene_use(scene, was, 10);
    assert_done(seqb_migrate(was, path, &options, &err), err);
    return path;
}

/* The claim in the store of `a` that names the term in which it is level. If
 * there is none, `text` is claimed, unless it is NULL. */
static void claim_synced(const struct scene *scene, const char *text,
                         char standing[static SEQB_CLAIM_SIZE])
{
    const struct seqb_backend_options options = {
        .name = "a",
        .path = scene_state_path(scene, "a.db"),
        .timeout_ms = 60000,
        .connect_timeout_ms = 60000};
    struct seqb_backend *backend = NULL;
    struct seqb_error err = {.text = ""};

    if (backend_sqlite.open(&options, &backend, &err) != SEQB_OK ||
        backend_sqlite.claim(backend, CLAIM, text, standing, SEQB_CLAIM_SIZE,
                             &err) != SEQB_OK)
        fail_msg("%s", err.text);
    backend_sqlite.close(backend);
}

static void expect_synced(const struct scene *scene, const char *expected)
{
    char standing[SEQB_CLAIM_SIZE];

    claim_synced(scene, NULL, standing);
    assert_string_equal(standing, expected);
}

/* In a term of that run that began with an operator's word; `out` is its
 * name. */
static void expect_trusted(const struct scene *scene, const char *expected,
                           char out[static SEQB_CLAIM_SIZE])
{
    char nonce[TERM_NONCE_SIZE];

    claim_synced(scene, NULL, out);
    assert_true(term_read(out, expected, nonce));
    assert_true(term_is_trusted(nonce));
}

/* The store is put back to where it waited. */
static void put_back(const struct scene *scene, const char *from,
                     const char *waits)
{
    const struct seqb_backend_options options = {
        .name = "a",
        .path = scene_state_path(scene, "a.db"),
        .timeout_ms = 60000,
        .connect_timeout_ms = 60000};
    const struct seqb_swap swap = {
        .name = CLAIM, .expected = from, .text = waits};
    char standing[SEQB_CLAIM_SIZE];
    struct seqb_backend *backend = NULL;
    struct seqb_error err = {.text = ""};

    if (backend_sqlite.open(&options, &backend, &err) != SEQB_OK ||
        backend_sqlite.swap(backend, &swap, standing, sizeof standing, &err) !=
            SEQB_OK)
        fail_msg("%s", err.text);
    backend_sqlite.close(backend);
    assert_string_equal(standing, waits);
}

/* --- the word --- */

static char told[SCENE_TEXT_SIZE];

static void expect_word(const char *path, const char *backend, bool dry_run,
                        enum seqb_status expected)
{
    const struct seqb_trust_options options = {.dry_run = dry_run,
                                               .engines = engines,
                                               .report = scene_hear,
                                               .context = told};
    struct seqb_error err = {.text = ""};
    enum seqb_status status;

    told[0] = '\0';
    status = seqb_trust(path, backend, &options, &err);
    if (status != expected)
        fail_msg("%s: %s", seqb_status_name(status), err.text);
    (void)text_append(told, sizeof told, "%s\n", err.text);
}

TEST_WITH(SCENE, store_that_waits_for_one_that_is_gone_is_believed)
{
    const char *path = make_pool(scene);
    char term[SEQB_CLAIM_SIZE];

    scene_move(scene, "b.db", "b.gone");
    expect_word(path, "a", true, SEQB_OK);
    scene_expect_words(told, "cannot be asked: b: ");
    scene_expect_words(told, "no neighbour can witness a lease");
    scene_expect_words(told, "warning: if the store of a was put back");
    expect_synced(scene, "");
    expect_word(path, "a", false, SEQB_OK);
    expect_trusted(scene, "run-1", term);
    expect_word(path, "a", false, SEQB_OK);
    scene_expect_words(told, "it is level already");
    expect_synced(scene, term);
}

/* Notes of the first term are not of the second one. */
TEST_WITH(SCENE, two_words_for_one_run_name_two_terms)
{
    const char *path = make_pool(scene);
    char first[SEQB_CLAIM_SIZE];
    char second[SEQB_CLAIM_SIZE];

    scene_move(scene, "b.db", "b.gone");
    expect_word(path, "a", false, SEQB_OK);
    expect_trusted(scene, "run-1", first);
    put_back(scene, first, "-run-1");
    expect_word(path, "a", false, SEQB_OK);
    expect_trusted(scene, "run-1", second);
    assert_string_not_equal(first, second);
}

/* Whatever stood there is of another run. */
TEST_WITH(SCENE, word_is_for_one_run_of_the_server)
{
    const char *path = make_pool(scene);
    char term[SEQB_CLAIM_SIZE];

    scene_move(scene, "b.db", "b.gone");
    expect_word(path, "a", false, SEQB_OK);
    run = "run-2";
    expect_word(path, "a", true, SEQB_OK);
    scene_expect_words(told, "dry run: nothing was written");
    expect_trusted(scene, "run-1", term);
    expect_word(path, "a", false, SEQB_OK);
    expect_trusted(scene, "run-2", term);
}

TEST_WITH(SCENE, who_needs_no_word_gets_none)
{
    const char *path = make_pool(scene);
    const char *first;

    expect_word(path, "a", false, SEQB_INVALID);
    scene_expect_words(told, "all of its neighbours can be asked");
    expect_word(path, "c", false, SEQB_INVALID);
    scene_expect_words(told, "no partition has the backend 'c'");
    first = write_topology(scene, 1);
    expect_word(first, "a", false, SEQB_INVALID);
    scene_expect_words(told, "leases no windows to neighbours");
    expect_synced(scene, "");
}

/* A restart may have taken it back, or nobody can tell one from another. */
TEST_WITH(SCENE, store_that_proves_nothing_is_not_believed)
{
    const char *path = make_pool(scene);

    scene_move(scene, "b.db", "b.gone");
    loss = "sync=off";
    expect_word(path, "a", false, SEQB_UNSAFE);
    loss = "";
    run = "";
    expect_word(path, "a", false, SEQB_INVALID);
    scene_expect_words(told, "cannot tell one run");
    run = "run-1";
    expect_word(path, "b", false, SEQB_UNREACHABLE);
    expect_synced(scene, "");
}

TEST_WITH(SCENE, store_of_another_place_is_not_believed)
{
    const char *path = make_pool(scene);

    scene_move(scene, "a.db", "a.gone");
    scene_move(scene, "b.db", "a.db");
    expect_word(path, "a", false, SEQB_LAYOUT);
}

/* The word for `a` while its claim is `synced` and `b` cannot be asked. */
static void expect_word_at(struct scene *scene, const char *synced,
                           enum seqb_status expected)
{
    const char *path = make_pool(scene);
    char standing[SEQB_CLAIM_SIZE];

    claim_synced(scene, synced, standing);
    scene_move(scene, "b.db", "b.gone");
    expect_word(path, "a", false, expected);
    if (expected == SEQB_OK)
        expect_trusted(scene, "run-1", standing);
    else
        expect_synced(scene, synced);
}

/* It was level in this run, so it was not restarted. It waits because a copy of
 * it leased in its place. */
TEST_WITH(SCENE, store_that_a_copy_replaced_is_not_believed)
{
    expect_word_at(scene, "run-1", SEQB_UNSAFE);
    scene_expect_words(told, "backend a was not restarted since");
}

/* The same in a term after that of a copy, level or not yet. */
TEST_WITH(SCENE, store_in_its_second_term_is_not_believed)
{
    expect_word_at(scene, "0123456789abcdef~run-1", SEQB_UNSAFE);
}

TEST_WITH(SCENE, store_whose_second_term_was_begun_is_not_believed)
{
    expect_word_at(scene, "-0123456789abcdef~run-1", SEQB_UNSAFE);
}

/* It was restarted, and the other store went while it was made level. */
TEST_WITH(SCENE, store_that_was_being_made_level_is_believed)
{
    expect_word_at(scene, "-run-1", SEQB_OK);
}
