/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps what a probe of a topology's backends reports, and checks it. */
#pragma once

#include <seqbroker/admin.h>

#include "scene.h"

#define PROBE_LOG_TEXT_SIZE 4096
#define PROBE_LOG_MAX       8

/* Parts of topologies: a backend that is a file, a pool, a sequence. */
#define FILE_BACKEND(name)                                                     \
    "{ name = \"" name "\"; engine = \"sqlite\"; path = \"" name ".db\"; }"
#define POOL(partitions)                                                       \
    "pools = ( { name = \"main\"; timeout = \"20s\";"                          \
    "            partitions = [ " partitions " ]; } );"
#define ORDER "sequences = ( { key = \"order\"; deadline = \"1m\"; } );"

/* All that was reported. */
struct probe_log {
    struct seqb_probe found[PROBE_LOG_MAX];
    size_t count;
    char diagnostics[PROBE_LOG_TEXT_SIZE];
    char notes[PROBE_LOG_TEXT_SIZE];
    char warnings[PROBE_LOG_TEXT_SIZE];
    enum seqb_status status;
    struct seqb_error err;
};

/* Probes with the service's engines (NULL: none). The result is valid until the
 * next call. */
const struct probe_log *
probe_log_of(const char *topology,
             const struct seqb_backend_ops *const *engines);

void probe_log_expect(const struct probe_log *told, enum seqb_status expected);

/* Checks backend i: its status, and that the reason contains `words`. */
void probe_log_expect_found(const struct probe_log *told, size_t i,
                            enum seqb_status expected, const char *words);

/* Backend i may serve, and claims `place`. */
void probe_log_expect_well(const struct probe_log *told, size_t i,
                           const char *place);

/* Checks what backend i says of its server. Of the replicas it must say what
 * `expected` has of them, and more. */
void probe_log_expect_details(const struct probe_log *told, size_t i,
                              const struct seqb_details *expected);
