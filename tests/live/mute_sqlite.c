/* SPDX-License-Identifier: Apache-2.0 */
#include "mute_sqlite.h"

#include <stdio.h>
#include <string.h>

#include "backends/backends.h"
#include "platform/text.h"
#include "support/test.h"

static struct seqb_backend_ops mute;

static enum seqb_status mute_open(const struct seqb_backend_options *options,
                                  struct seqb_backend **out,
                                  struct seqb_error *err)
{
    const enum seqb_status status = backend_sqlite.open(options, out, err);

    if (status == SEQB_OK)
        (*out)->ops = &mute;
    return status;
}

static enum seqb_status forgetting_list(struct seqb_backend *backend,
                                        struct seqb_page *page,
                                        struct seqb_error *err)
{
    if (!page->is_of_claims && strchr(page->prefix, '~') != NULL)
        return backend_sqlite.list(backend, page, err);
    page->count = 0;
    return SEQB_OK;
}

/* The topology with the engine's other name, in a file of its own. */
static const char *rename_engine(struct scene *scene, const char *path,
                                 const char *name)
{
    static const char word[] = "\"sqlite\"";
    char text[SCENE_TEXT_SIZE] = "";
    char line[SCENE_TEXT_SIZE];
    FILE *file = fopen(path, "re");

    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        char *at = line;
        char *found;

        while ((found = strstr(at, word)) != NULL) {
            *found = '\0';
            assert_true(
                text_append(text, sizeof text, "%s\"mute-sqlite\"", at));
            at = found + strlen(word);
        }
        assert_true(text_append(text, sizeof text, "%s", at));
    }
    assert_int_equal(fclose(file), 0);
    return scene_write(scene, name, text);
}

static enum seqb_status migrate(struct scene *scene, const char *from,
                                const char *to,
                                const struct seqb_migrate_options *options,
                                struct seqb_error *err)
{
    const struct seqb_backend_ops *const engines[] = {&mute, NULL};
    struct seqb_migrate_options mine = {.engines = engines};

    if (options != NULL)
        mine = *options;
    mine.engines = engines;
    return seqb_migrate(rename_engine(scene, from, "mute-old.conf"),
                        rename_engine(scene, to, "mute-new.conf"), &mine, err);
}

static void mute_make(void)
{
    mute = backend_sqlite;
    mute.engine = "mute-sqlite";
    mute.open = mute_open;
    mute.list = NULL;
}

enum seqb_status migrate_mute(struct scene *scene, const char *from,
                              const char *to,
                              const struct seqb_migrate_options *options,
                              struct seqb_error *err)
{
    mute_make();
    return migrate(scene, from, to, options, err);
}

enum seqb_status migrate_forgetting(struct scene *scene, const char *from,
                                    const char *to, struct seqb_error *err)
{
    mute_make();
    mute.list = forgetting_list;
    return migrate(scene, from, to, NULL, err);
}
