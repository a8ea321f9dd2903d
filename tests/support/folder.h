/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary folders of tests. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Makes a new one in the folder that SEQB_TEST_FOLDER in the environment names,
 * or else in /tmp; false if it cannot. Paths of sockets have 107 bytes. */
bool folder_make(char *out, size_t size);

/* Removes a folder and all that is in it; what cannot be, stays. */
void folder_remove(const char *path);
