/* SPDX-License-Identifier: Apache-2.0 */
/* Topologies that are files: a folder for those of one test. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include <seqbroker/backend.h>

#include "support/test.h"

struct topology_files {
    char folder[32];
    char path[64]; /* of the file written last */
    /* Given with each topology; NULL: none. */
    const struct seqb_backend_ops *const *engines;
};

/* For cmocka: *state is a folder; the state directory is /state. */
int topology_files_setup(void **state);
int topology_files_teardown(void **state);

#define FILES                                                                  \
    FIXTURE(struct topology_files *files, topology_files_setup,                \
            topology_files_teardown)

/* Write "t.conf", "part.conf" or "secret"; mode 0600 but for the last. */
void topology_write(struct topology_files *files, const char *name,
                    const char *text);
void topology_write_bytes(struct topology_files *files, const char *name,
                          const char *bytes, size_t length);
void topology_write_mode(struct topology_files *files, const char *name,
                         const char *text, mode_t mode);

/* The topology at `path` must be refused with exactly that error, in which
 * every '@' stands for the folder. */
void topology_refused(const struct topology_files *files, const char *path,
                      const char *expected);
