/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary topologies and what is said of them. */
#include "unit/topology_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/config.h"
#include "platform/text.h"
#include "support/test.h"
#include "unit/topology_expect.h"

static const char *const names[] = {"t.conf", "part.conf", "secret"};

int topology_files_setup(void **state)
{
    struct topology_files *files = calloc(1, sizeof *files);

    if (files == NULL ||
        !text_copy(files->folder, sizeof files->folder,
                   "/tmp/test-config-XXXXXX") ||
        mkdtemp(files->folder) == NULL)
        return 1;
    *state = files;
    return topology_setup(NULL);
}

int topology_files_teardown(void **state)
{
    struct topology_files *files = *state;
    int status;

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        (void)text_format(files->path, sizeof files->path, "%s/%s",
                          files->folder, names[i]);
        (void)unlink(files->path);
    }
    status = rmdir(files->folder);
    free(files);
    return status;
}

void topology_write_bytes(struct topology_files *files, const char *name,
                          const char *bytes, size_t length)
{
    FILE *file;

    assert_true(text_format(files->path, sizeof files->path, "%s/%s",
                            files->folder, name));
    file = fopen(files->path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(files->path, 0600), 0);
}

void topology_write_mode(struct topology_files *files, const char *name,
                         const char *text, mode_t mode)
{
    topology_write_bytes(files, name, text, strlen(text));
    assert_int_equal(chmod(files->path, mode), 0);
}

void topology_write(struct topology_files *files, const char *name,
                    const char *text)
{
    topology_write_mode(files, name, text, 0600);
}

static void fill_in(const struct topology_files *files, const char *from,
                    char *to, size_t size)
{
    *to = '\0';
    for (const char *at = strchr(from, '@'); at != NULL;
         at = strchr(from, '@')) {
        assert_true(text_append(to, size, "%.*s%s", (int)(at - from), from,
                                files->folder));
        from = at + 1;
    }
    assert_true(text_append(to, size, "%s", from));
}

void topology_refused(const struct topology_files *files, const char *path,
                      const char *expected)
{
    const struct config_request request = {.path = path,
                                           .engines = files->engines};
    struct config *config = NULL;
    struct seqb_error error = {.text = ""};
    char text[SEQB_ERROR_TEXT_SIZE];

    fill_in(files, expected, text, sizeof text);
    assert_int_equal(config_open(&request, &config, &error), SEQB_CONFIG);
    assert_string_equal(error.text, text);
    assert_null(config);
}
