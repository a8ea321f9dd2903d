/* SPDX-License-Identifier: Apache-2.0 */
#include "file_pool.h"

#include "platform/text.h"

static const char * or (const char *text, const char *instead)
{
    return text != NULL ? text : instead;
}

static void add_backends(char text[static SCENE_TEXT_SIZE],
                         const struct file_pool *pool, const char *letters)
{
    for (; *letters != '\0'; letters++)
        (void)text_append(text, SCENE_TEXT_SIZE,
                          "%s  { name = \"%c\"; engine = \"%ssqlite\"; "
                          "path = \"%c.db\"; }",
                          letters == pool->partitions ? "" : ",\n", *letters,
                          or (pool->engine, ""), *letters);
}

static void add_pool(char text[static SCENE_TEXT_SIZE],
                     const struct file_pool *pool)
{
    (void)text_append(text, SCENE_TEXT_SIZE,
                      " );\npools = ( { name = \"%s\"; %s ",
                      or (pool->name, "main"), or (pool->settings, ""));
    if (pool->generation > 0)
        (void)text_append(text, SCENE_TEXT_SIZE, "generation = %d; ",
                          pool->generation);
    if (pool->authority != NULL)
        (void)text_append(text, SCENE_TEXT_SIZE, "authority = \"%s\"; ",
                          pool->authority);
    (void)text_append(text, SCENE_TEXT_SIZE, "partitions = [");
    for (const char *letter = pool->partitions; *letter != '\0'; letter++)
        (void)text_append(text, SCENE_TEXT_SIZE, "%s\"%c\"",
                          letter == pool->partitions ? " " : ", ", *letter);
}

const char *file_pool_write(const struct scene *scene, const char *name,
                            const struct file_pool *pool)
{
    char text[SCENE_TEXT_SIZE] = "backends = (\n";

    add_backends(text, pool, pool->partitions);
    add_backends(text, pool, or (pool->beside, ""));
    add_pool(text, pool);
    assert_true(text_append(text, sizeof text,
                            " ]; } );\nsequences = ( { key = \"order\"; %s } "
                            ");\n%s\n",
                            or (pool->order, ""), or (pool->more, "")));
    return scene_write(scene, name, text);
}
