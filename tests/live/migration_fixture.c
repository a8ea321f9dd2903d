/* SPDX-License-Identifier: Apache-2.0 */
/* Topologies written from layouts, and migrations between them. */
#include "migration_fixture.h"

#include <string.h>
#include <unistd.h>

#include "platform/text.h"
#include "support/folder.h"
#include "support/test.h"

#define PATHS     8
#define PATH_SIZE 128

static struct server *redis;

void migration_reset(struct scene *scene)
{
    if (redis == NULL)
        redis = server_redis(NULL);
    migration_forget_cells();
    folder_remove(scene->state_dir);
}

void migration_forget_cells(void)
{
    redis_execute(redis, "FLUSHALL");
}

struct scene *migration_start(void **state)
{
    assert_int_equal(scene_setup(state), 0);
    migration_reset(*state);
    return *state;
}

int migration_stop(void **state)
{
    (void)state;
    server_free(redis);
    redis = NULL;
    return 0;
}

struct layout_text migration_next(const struct layout_text *text)
{
    struct layout_text next = *text;

    next.generation++;
    return next;
}

void migration_put_back(const struct scene *scene, const char *copy)
{
    test_copy_file(copy, scene_state_path(scene, "f0.db"));
    (void)unlink(scene_state_path(scene, "granted-0"));
}

struct server *migration_server(void)
{
    return redis;
}

/* --- topologies --- */

static void add_backend(char *text, const char *name, const char *engine)
{
    if (strstr(text, name) != NULL)
        return;
    if (name[0] == 'r')
        (void)text_append(text, SCENE_TEXT_SIZE,
                          "{ name = \"%s\"; engine = \"%sredis\"; prefix = "
                          "\"%s\"; port = %d; connect_timeout = \"1m\"; }, ",
                          name, engine, name, (int)server_port(redis));
    else
        (void)text_append(text, SCENE_TEXT_SIZE,
                          "{ name = \"%s\"; engine = \"%ssqlite\"; "
                          "path = \"%s.db\"; }, ",
                          name, engine, name);
}

static void add_backends(char *text, const struct layout_text *layout,
                         const char *engine)
{
    (void)text_append(text, SCENE_TEXT_SIZE, "backends = ( ");
    for (size_t i = 0; layout->partitions[i] != NULL; i++)
        add_backend(text, layout->partitions[i], engine);
    if (layout->authority != NULL &&
        strcmp(layout->authority, "neighbours") != 0)
        add_backend(text, layout->authority, engine);
    text[strlen(text) - 2] = '\0';
    (void)text_append(text, SCENE_TEXT_SIZE, " );\n");
}

static void add_pool(char *text, const struct layout_text *layout)
{
    (void)text_append(text, SCENE_TEXT_SIZE,
                      "pools = ( { name = \"main\"; generation = %d; "
                      "window_bits = %d; timeout = \"1m\"; ",
                      layout->generation, layout->window_bits);
    if (layout->failover_gap != 0)
        (void)text_append(text, SCENE_TEXT_SIZE, "failover_gap = %d; ",
                          layout->failover_gap);
    if (layout->authority != NULL)
        (void)text_append(text, SCENE_TEXT_SIZE, "authority = \"%s\"; ",
                          layout->authority);
    (void)text_append(text, SCENE_TEXT_SIZE, "partitions = [ ");
    for (size_t i = 0; layout->partitions[i] != NULL; i++)
        (void)text_append(text, SCENE_TEXT_SIZE, "%s\"%s\"", i == 0 ? "" : ", ",
                          layout->partitions[i]);
    (void)text_append(text, SCENE_TEXT_SIZE, " ]; } );\n");
}

/* A copy of the path that lasts; the same one for the same file. */
static const char *path_keep(const char *path)
{
    static char paths[PATHS][PATH_SIZE];
    static size_t next;
    char *kept = paths[next % PATHS];

    for (size_t i = 0; i < PATHS; i++) {
        if (strcmp(paths[i], path) == 0)
            return paths[i];
    }
    next++;
    assert_true(text_copy(kept, PATH_SIZE, path));
    return kept;
}

const char *migration_write(struct scene *scene, const char *name,
                            const struct layout_text *text, const char *engine)
{
    char written[SCENE_TEXT_SIZE] = "";

    (void)text_append(written, sizeof written,
                      "broker = { open_timeout = \"1m\"; };\n");
    add_backends(written, text, engine);
    add_pool(written, text);
    assert_true(text_append(written, sizeof written,
                            "sequences = ( { key = \"%s\"; max_unused = 256;"
                            " memory_bits = %d; deadline = \"1m\"; } );\n%s",
                            text->key == NULL ? "order" : text->key,
                            text->memory_bits,
                            text->more == NULL ? "" : text->more));
    return path_keep(scene_write(scene, name, written));
}

/* --- migrations --- */

static void hear(void *context, const char *line)
{
    struct moved *moved = context;

    assert_true(text_append(moved->told, sizeof moved->told, "%s\n", line));
}

const struct moved *migration_try(const char *from, const char *to,
                                  const struct seqb_migrate_options *options)
{
    static struct moved moved;
    struct seqb_migrate_options heard = {0};

    if (options != NULL)
        heard = *options;
    heard.report = hear;
    heard.context = &moved;
    memset(&moved, 0, sizeof moved);
    moved.status = seqb_migrate(from, to, &heard, &moved.err);
    return &moved;
}

const struct moved *migration_do(const char *from, const char *to)
{
    const struct moved *moved = migration_try(from, to, NULL);

    if (moved->status != SEQB_OK)
        fail_msg("the migration answered %s: %s",
                 seqb_status_name(moved->status), moved->err.text);
    return moved;
}

void migration_refused(const char *from, const char *to,
                       enum seqb_status status, const char *words)
{
    const struct moved *moved = migration_try(from, to, NULL);

    if (moved->status != status)
        fail_msg("the migration answered %s: %s",
                 seqb_status_name(moved->status), moved->err.text);
    assert_int_equal(moved->err.status, status);
    scene_expect_words(moved->err.text, words);
}

void migration_use(struct scene *scene, const char *topology)
{
    scene_use(scene, topology, MIGRATION_TAKE);
}

void migration_use_above(struct scene *scene, const char *topology)
{
    const int64_t highest = numbers_highest(&scene->numbers);
    const size_t before = numbers_count(&scene->numbers);

    migration_use(scene, topology);
    for (size_t i = before; i < numbers_count(&scene->numbers); i++) {
        if (scene->numbers.values[i] <= highest)
            fail_msg("%lld is issued after %lld",
                     (long long)scene->numbers.values[i], (long long)highest);
    }
    scene_expect_no_repeats(scene);
}
