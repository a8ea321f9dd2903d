/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probing the backends of a topology: real SQLite files, and engines of the
 * test's own whose settings lose commits.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/backends.h"
#include "platform/error.h"
#include "platform/text.h"
#include "probe_log.h"
#include "store/store.h"
#include "support/test.h"

#define FILES_AB "backends = ( " FILE_BACKEND("a") ", " FILE_BACKEND("b") " );"

static const char two_files[] = FILES_AB POOL("\"a\", \"b\"") ORDER;

TEST_WITH(SCENE, nothing_is_made_before_the_first_start)
{
    const struct probe_log *told;

    assert_int_equal(mkdir(scene->state_dir, 0700), 0);
    told = probe_log_of(scene_write(scene, "t.conf", two_files), NULL);
    probe_log_expect(told, SEQB_UNAVAILABLE);
    scene_expect_words(told->err.text, "2 of 2 backends");
    assert_int_equal(told->count, 2);
    probe_log_expect_found(told, 0, SEQB_UNREACHABLE, "a.db");
    probe_log_expect_found(told, 1, SEQB_UNREACHABLE, "b.db");
    assert_string_equal(told->found[1].server, "");
    /* Only an empty folder can be removed. */
    assert_int_equal(rmdir(scene->state_dir), 0);
}

TEST_WITH(SCENE, files_in_use_are_well_and_fail_together)
{
    const struct probe_log *told;
    const char *path = scene_write(scene, "t.conf", two_files);

    scene_use(scene, path, 1000);
    told = probe_log_of(path, NULL);
    probe_log_expect(told, SEQB_OK);
    probe_log_expect_well(told, 0, "main/0");
    probe_log_expect_well(told, 1, "main/1");
    assert_string_equal(told->found[1].backend, "b");
    assert_string_equal(told->found[1].engine, "sqlite");
    assert_string_equal(told->found[1].pool, "main");
    assert_int_equal(told->found[1].partition, 1);
    assert_false(told->found[1].is_windowed);
    assert_false(told->found[1].is_authority);
    scene_expect_words(told->warnings,
                       "pool main: a, b stand on one server or disk (");
    scene_use(scene, path, 1000);
    scene_expect_no_repeats(scene);
}

TEST_WITH(SCENE, mistakes_in_the_topology_open_nothing)
{
    const struct probe_log *told =
        probe_log_of(scene_write(scene, "t.conf", FILES_AB ORDER), NULL);

    probe_log_expect(told, SEQB_CONFIG);
    scene_expect_words(told->diagnostics, "t.conf:1: there are no pools");
    assert_int_equal(told->count, 0);
}

/* --- layouts --- */

static const struct {
    const char *topology;
    size_t backend;
    const char *words;
} layouts[] = {
    {FILES_AB POOL("\"b\", \"a\"") ORDER, 0,
     "its store stands in main/0 (pool/partition) and is configured as "
     "main/1"},
    {FILES_AB POOL("\"b\", \"a\"") ORDER, 1, "stands in main/1"},
    {"backends = ( " FILE_BACKEND("a") " );" POOL("\"a\"") ORDER, 0,
     "bits was 1 and is 0"},
    {"backends = ( " FILE_BACKEND("a") ", " FILE_BACKEND("c") " );" POOL(
         "\"a\", \"c\"") ORDER,
     1,
     "its store stands in other/0 (pool/partition) and is configured as "
     "main/1"},
};

TEST_WITH(SCENE, other_layouts_are_told_backend_by_backend)
{
    const char *path;

    scene_use(
        scene,
        scene_write(scene, "t.conf",
                    "backends = ( " FILE_BACKEND(
                        "c") " );"
                             "pools = ( { name = \"other\";"
                             "            partitions = [ \"c\" ]; } );" ORDER),
        1000);
    path = scene_write(scene, "t.conf", two_files);
    scene_use(scene, path, 1000);
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        const struct probe_log *told = probe_log_of(
            scene_write(scene, "other.conf", layouts[i].topology), NULL);

        probe_log_expect(told, SEQB_LAYOUT);
        probe_log_expect_found(told, layouts[i].backend, SEQB_LAYOUT,
                               layouts[i].words);
    }
    probe_log_expect(probe_log_of(path, NULL), SEQB_OK);
}

TEST_WITH(SCENE, one_store_twice_is_told_of_both)
{
    const char *from;
    const struct probe_log *told;
    const char *path = scene_write(scene, "t.conf", two_files);

    scene_use(scene, path, 1000);
    from = scene_state_path(scene, "a.db");
    scene_copy(from, scene_state_path(scene, "b.db"));
    told = probe_log_of(path, NULL);
    probe_log_expect(told, SEQB_LAYOUT);
    probe_log_expect_found(told, 0, SEQB_LAYOUT,
                           "backends a and b lead to the same");
    probe_log_expect_found(told, 1, SEQB_LAYOUT, "stands in main/0");
}

/* Those that answer are compared without those that do not. */
TEST_WITH(SCENE, absent_store_is_no_other_layout)
{
    const struct probe_log *told;
    const char *path = scene_write(scene, "t.conf", two_files);

    scene_use(scene, path, 1000);
    assert_int_equal(unlink(scene_state_path(scene, "b.db")), 0);
    told = probe_log_of(path, NULL);
    probe_log_expect(told, SEQB_UNAVAILABLE);
    probe_log_expect_well(told, 0, "main/0");
    probe_log_expect_found(told, 1, SEQB_UNREACHABLE, "b.db");
}

TEST_WITH(SCENE, what_must_not_go_back_together_is_told)
{
    static const char neighbours[] =
        "backends = ( " FILE_BACKEND("a") ", " FILE_BACKEND(
            "b") " );"
                 "pools = ( { name = \"main\"; authority = \"neighbours\";"
                 "            partitions = [ \"a\", \"b\" ]; } );" ORDER;
    const struct probe_log *told;

    scene_use(scene, scene_write(scene, "t.conf", two_files), 1000);
    told = probe_log_of(scene_write(scene, "n.conf", neighbours), NULL);
    probe_log_expect(told, SEQB_LAYOUT);
    scene_expect_words(told->warnings,
                       "pool main: the neighbours a, b stand on one server or "
                       "disk (");
    scene_expect_words(told->notes,
                       "pool main: a number repeats if two of the stores a, b "
                       "go back together");
}

/* --- settings that lose commits --- */

static struct seqb_backend_ops lossy; /* filled by its test */
static const struct seqb_backend_ops *const engines[] = {&lossy, NULL};

static enum seqb_status lossy_open(const struct seqb_backend_options *options,
                                   struct seqb_backend **out,
                                   struct seqb_error *err)
{
    struct seqb_backend *backend;

    if (!options->accept_loss)
        return error_set(err, SEQB_UNSAFE, "%s: sync is off", options->name);
    backend = calloc(1, sizeof *backend);
    assert_non_null(backend);
    backend->ops = &lossy;
    backend->fd = -1;
    (void)text_copy(backend->server, sizeof backend->server, "lossy 1");
    (void)text_copy(backend->loss, sizeof backend->loss, "sync=off");
    *out = backend;
    return SEQB_OK;
}

static enum seqb_status lossy_claim(struct seqb_backend *backend,
                                    const char *name, const char *text,
                                    char *standing, size_t size,
                                    struct seqb_error *err)
{
    (void)backend;
    (void)name;
    (void)err;
    assert_null(text); /* a probe only looks */
    (void)text_copy(standing, size, "");
    return SEQB_OK;
}

static void lossy_close(struct seqb_backend *backend)
{
    free(backend);
}

#define LOSSY(more)                                                            \
    "backends = ( { name = \"l\"; engine = \"lossy\"; " more                   \
    " } );" POOL("\"l\"") ORDER

TEST_WITH(SCENE, loss_is_told_whether_it_is_accepted_or_not)
{
    const struct probe_log *told;

    lossy = backend_sqlite;
    lossy.engine = "lossy";
    lossy.open = lossy_open;
    lossy.claim = lossy_claim;
    lossy.close = lossy_close;
    told = probe_log_of(scene_write(scene, "t.conf", LOSSY("")), engines);
    probe_log_expect(told, SEQB_UNAVAILABLE);
    probe_log_expect_found(told, 0, SEQB_UNSAFE, "l: sync is off");
    assert_string_equal(told->found[0].loss, "sync=off");
    assert_string_equal(told->found[0].server, "lossy 1");
    told = probe_log_of(
        scene_write(scene, "t.conf", LOSSY("accept_loss = true;")), engines);
    probe_log_expect(told, SEQB_OK);
    probe_log_expect_found(told, 0, SEQB_OK, "");
    assert_string_equal(told->found[0].loss, "sync=off");
}

TEST_WITH(SCENE, new_store_in_a_used_pool_is_told)
{
    const struct probe_log *told;

    scene_use(scene, scene_write(scene, "t.conf", two_files), 1000);
    lossy = backend_sqlite;
    lossy.engine = "lossy";
    lossy.open = lossy_open;
    lossy.claim = lossy_claim;
    lossy.close = lossy_close;
    told = probe_log_of(
        scene_write(scene, "new.conf",
                    "backends = ( " FILE_BACKEND(
                        "a") ", { name = \"b\"; engine = \"lossy\";"
                             "  accept_loss = true; } );" POOL("\"a\", \"b\"")
                                 ORDER),
        engines);
    probe_log_expect(told, SEQB_LAYOUT);
    probe_log_expect_found(told, 1, SEQB_LAYOUT, "backend b is new and empty");
}

/* A file of SQLite that says it loses something. */
static enum seqb_status leaky_open(const struct seqb_backend_options *options,
                                   struct seqb_backend **out,
                                   struct seqb_error *err)
{
    const enum seqb_status status = backend_sqlite.open(options, out, err);

    if (status == SEQB_OK)
        (void)text_copy((*out)->loss, sizeof(*out)->loss, "sync=off");
    return status;
}

TEST_WITH(SCENE, status_tells_server_domain_and_loss)
{
    struct seqb_partition_status status;
    struct seqb_error err;

    lossy = backend_sqlite;
    lossy.engine = "lossy";
    lossy.open = leaky_open;
    if (seqb_open_with(scene_write(scene, "t.conf", LOSSY("path = \"l\";")),
                       engines, &scene->broker, &err) != SEQB_OK)
        fail_msg("%s", err.text);
    scene_take(scene, "order", 100);
    status = scene_partition(scene, 0);
    assert_string_equal(status.engine, "lossy");
    assert_memory_equal(status.server, "sqlite ", 7);
    assert_true(strlen(status.domain) > 0);
    assert_string_equal(status.loss, "sync=off");
}

TEST_WITH(SCENE, incomplete_engine_opens_no_broker)
{
    struct seqb_error err;

    lossy = backend_sqlite;
    lossy.engine = "lossy";
    lossy.raise = NULL;
    assert_int_equal(
        seqb_open_with(scene_write(scene, "t.conf", LOSSY("path = \"l\";")),
                       engines, &scene->broker, &err),
        SEQB_INVALID);
    assert_int_equal(err.status, SEQB_INVALID);
    scene_expect_words(err.text, "no function 'raise'");
    assert_null(scene->broker);
}

/* --- options that an engine cannot do anything with --- */

static enum seqb_status puzzled_open(const struct seqb_backend_options *options,
                                     struct seqb_backend **out,
                                     struct seqb_error *err)
{
    (void)out;
    return error_set(err, SEQB_INVALID, "lossy %s: leave tls off",
                     options->name);
}

#define WITH_GENERATION(pools)                                                 \
    "backends = ( { name = \"a\"; engine = \"lossy\"; }, " FILE_BACKEND(       \
        "b") " ); pools = ( { name = \"main\"; " pools " } );" ORDER

/* Whoever opens the backends: none of them knows more than that. */
TEST_WITH(SCENE, option_that_is_wrong_is_told_without_a_guess)
{
    static const struct seqb_migrate_options dry = {.dry_run = true,
                                                    .engines = engines};
    char before[256];
    char after[256];
    const struct probe_log *told;
    struct seqb_error err;

    lossy = backend_sqlite;
    lossy.engine = "lossy";
    lossy.open = puzzled_open;
    (void)text_copy(
        before, sizeof before,
        scene_write(scene, "t.conf",
                    WITH_GENERATION("partitions = [ \"a\", \"b\" ];")));
    (void)text_copy(
        after, sizeof after,
        scene_write(scene, "new.conf",
                    WITH_GENERATION("partitions = [ \"b\", \"a\" ]; "
                                    "generation = 2;")));
    told = probe_log_of(before, engines);
    probe_log_expect(told, SEQB_UNAVAILABLE);
    probe_log_expect_found(told, 0, SEQB_INVALID, "lossy a: leave tls off");
    assert_int_equal(seqb_migrate(before, after, &dry, &err), SEQB_INVALID);
    assert_string_equal(err.text, "pool main: a migration needs every backend, "
                                  "and a fails: lossy a: leave tls off");
    assert_int_equal(seqb_open_with(before, engines, &scene->broker, &err),
                     SEQB_INVALID);
    assert_string_equal(err.text, "pool main: backend a cannot be used as it "
                                  "is configured: lossy a: leave tls off");
    assert_int_equal(seqb_open_with(after, engines, &scene->broker, &err),
                     SEQB_INVALID);
    scene_expect_words(err.text, "backend a cannot be used as it is ");
    assert_int_not_equal(access(scene_state_path(scene, "b.db"), F_OK), 0);
}

/* --- the rights for keys that are not listed --- */

/* An engine with a table for each key, which has that of "order" only. */
static enum seqb_status tables_permit(struct seqb_backend *backend,
                                      const char *counter,
                                      struct seqb_error *err)
{
    (void)backend;
    if (strncmp(counter, "window/", strlen("window/")) == 0 ||
        strcmp(counter, "main/0/order") == 0)
        return SEQB_OK;
    return error_set(err, SEQB_REFUSED, "CREATE command denied");
}

static const struct probe_log *
probe_tables(struct scene *scene, const char *more, const char *sequences)
{
    char text[SCENE_TEXT_SIZE];

    lossy = backend_sqlite;
    lossy.engine = "lossy";
    lossy.open = lossy_open;
    lossy.claim = lossy_claim;
    lossy.close = lossy_close;
    lossy.permits = tables_permit;
    lossy.describe = NULL;
    assert_true(text_format(text, sizeof text,
                            "backends = ( { name = \"l\"; engine = \"lossy\"; "
                            "accept_loss = true; %s } );" POOL("\"l\"") "%s",
                            more, sequences));
    return probe_log_of(scene_write(scene, "t.conf", text), engines);
}

#define AUTOMATIC "auto_sequences = { pattern = \"*\"; limit = 9; };"

TEST_WITH(SCENE, right_to_make_an_automatic_key_is_asked_for)
{
    const struct probe_log *told = probe_tables(scene, "", ORDER);

    probe_log_expect(told, SEQB_OK);
    told = probe_tables(scene, "", AUTOMATIC);
    probe_log_expect(told, SEQB_UNAVAILABLE);
    probe_log_expect_found(told, 0, SEQB_REFUSED, "CREATE command denied");
    probe_log_expect_found(told, 0, SEQB_REFUSED,
                           "a new key of auto_sequences: the right to make its "
                           "table is missing: grant CREATE");
}

TEST_WITH(SCENE, automatic_keys_without_auto_create_need_a_table_each)
{
    const struct probe_log *told =
        probe_tables(scene, "auto_create = false;", AUTOMATIC);

    probe_log_expect(told, SEQB_OK);
    scene_expect_words(told->warnings,
                       "pool main: l makes no tables (auto_create = false): "
                       "each key of auto_sequences needs a table first");
}
