/* SPDX-License-Identifier: Apache-2.0 */
/* Copying the files of a server, as its user. */
#include "support/server_files.h"

#include <stdio.h>

#include "platform/text.h"
#include "support/server_kind.h"
#include "support/test.h"

#define PATH_SIZE 128

void server_files_remove(struct server *server, const char *name)
{
    const char *const argv[] = {"rm", "-rf", name, NULL};

    server_run(server, argv);
}

/* A file system that can do so shares the blocks, as its snapshots do. */
void server_files_copy(struct server *server, const char *from, const char *to)
{
    const char *const argv[] = {"cp", "-a", "--reflink=auto", from, to, NULL};

    server_files_remove(server, to);
    server_run(server, argv);
}

void server_files_exchange(struct server *server, const char *one,
                           const char *other)
{
    char first[PATH_SIZE];
    char second[PATH_SIZE];
    char aside[PATH_SIZE];

    (void)text_format(first, sizeof first, "%s/%s", server->folder, one);
    (void)text_format(second, sizeof second, "%s/%s", server->folder, other);
    (void)text_format(aside, sizeof aside, "%s.aside", first);
    assert_int_equal(rename(first, aside), 0);
    assert_int_equal(rename(second, first), 0);
    assert_int_equal(rename(aside, second), 0);
}
