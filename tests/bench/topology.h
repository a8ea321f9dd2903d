/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The topologies that the benches run on, each in a folder of its own, which
 * is the state directory as well. What fails ends the program.
 */
#pragma once

#include <seqbroker/seqbroker.h>

#define TOPOLOGY_PATH_SIZE 96

struct topology {
    char folder[48];
    char path[TOPOLOGY_PATH_SIZE]; /* of the file */
};

/* So many durable SQLite partitions, 1 ... 64, in one pool, and what else the
 * file holds: `rest` is its "sequences" or "auto_sequences". */
void topology_sqlite(struct topology *topology, int partitions,
                     const char *rest);

/* A file of that text. */
void topology_write(struct topology *topology, const char *text);

/* Replaces its file: so many listed sequences "k0", "k1", ... on four durable
 * SQLite partitions, and what else the file holds. The sequence of index
 * `taken` has so many memory bits that the stores keep up with any caller, who
 * waits for up to a minute for the first number. */
void topology_list(const struct topology *topology, int sequences, int taken,
                   const char *rest);

/* Removes the folder. */
void topology_remove(struct topology *topology);

/* A broker on it. */
struct seqb_broker *topology_open(const struct topology *topology);
struct seqb_sequence *sequence_of(struct seqb_broker *broker, const char *key);
