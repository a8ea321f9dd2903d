/* SPDX-License-Identifier: Apache-2.0 */
/* A store of a scene that is a file, changed behind the brokers' backs. */
#pragma once

#include "scene.h"

/* Executes SQL in the file of the state directory, such as "a.db". Waits while
 * a broker has it locked. Returns how many rows were changed. What fails fails
 * the test. */
int store_file_edit(const struct scene *scene, const char *name,
                    const char *sql);
