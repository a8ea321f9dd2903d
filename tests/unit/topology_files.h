/* SPDX-License-Identifier: Apache-2.0 */
/* Topology files: a folder for the files of one test. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include <seqbroker/backend.h>

#include "support/test.h"

struct topology_files {
    char folder[32];
    char path[64]; /* of the last file written */
    /* The engines passed with each topology; NULL: none. */
    const struct seqb_backend_ops *const *engines;
};

/* For cmocka: *state becomes a folder. The state directory is /state. */
int topology_files_setup(void **state);
int topology_files_teardown(void **state);

#define FILES                                                                  \
    FIXTURE(struct topology_files *files, topology_files_setup,                \
            topology_files_teardown)

/* Write "t.conf", "part.conf" or "secret". The mode is 0600, unless it is
 * given. */
void topology_write(struct topology_files *files, const char *name,
                    const char *text);
void topology_write_bytes(struct topology_files *files, const char *name,
                          const char *bytes, size_t length);
void topology_write_mode(struct topology_files *files, const char *name,
                         const char *text, mode_t mode);

/* The topology at `path` must be refused with exactly that error. Each '@' in
 * it stands for the folder. */
void topology_refused(const struct topology_files *files, const char *path,
                      const char *expected);
