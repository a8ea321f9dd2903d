/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary folders of tests. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Makes a new folder in the folder named by SEQB_TEST_FOLDER in the
 * environment, or else in /tmp; false if that fails. Keep `size` small, because
 * the path of a socket has at most 107 bytes. */
bool folder_make(char *out, size_t size);

/* Removes a folder and its content. What cannot be removed stays. */
void folder_remove(const char *path);

/* The path of a file of the project, "sql/mysql.sql", wherever the test program
 * was started: found from the program's folder upwards, or else from here.
 * False if there is no such file. */
bool project_path(const char *name, char out[static PATH_MAX]);

/* A cmocka teardown for a state in heap memory whose first member is the path
 * of its folder. */
int folder_free(void **state);
