/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps what a probe of a topology's backends reports, and checks it. */
#pragma once

#include <seqbroker/admin.h>

#include "scene.h"

#define TOLD_TEXT_SIZE 4096
#define TOLD_MAX       8

/* Parts of topologies: a backend that is a file, a pool, a sequence. */
#define FILE_BACKEND(name)                                                     \
    "{ name = \"" name "\"; engine = \"sqlite\"; path = \"" name ".db\"; }"
#define POOL(partitions)                                                       \
    "pools = ( { name = \"main\"; timeout = \"20s\";"                          \
    "            partitions = [ " partitions " ]; } );"
#define ORDER "sequences = ( { key = \"order\"; deadline = \"1m\"; } );"

/* All that was reported. */
struct told {
    struct seqb_probe found[TOLD_MAX];
    size_t count;
    char diagnostics[TOLD_TEXT_SIZE];
    char notes[TOLD_TEXT_SIZE];
    char warnings[TOLD_TEXT_SIZE];
    enum seqb_status status;
    struct seqb_error err;
};

/* Probes with the service's engines (NULL: none). The result is valid until the
 * next call. */
const struct told *told_by(const char *topology,
                           const struct seqb_backend_ops *const *engines);

void told_expect(const struct told *told, enum seqb_status expected);

/* Checks backend i: its status, and that the reason contains `words`. */
void told_expect_found(const struct told *told, size_t i,
                       enum seqb_status expected, const char *words);

/* Backend i may serve, and claims `place`. */
void told_expect_well(const struct told *told, size_t i, const char *place);

/* Lets a broker take numbers, so that the stores are claimed. */
void told_use(struct scene *scene, const char *topology);
