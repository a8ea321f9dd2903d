/* SPDX-License-Identifier: Apache-2.0 */
/* A checked draft as the options that the layers below take: what depends on
 * the machine (state directory, paths, password files) is found here. */
#pragma once

#include <seqbroker/status.h>

#include "config/arena.h"
#include "config/config.h"
#include "config/mistakes.h"
#include "config/scan.h"
#include "config/schema.h"
#include "config/templates.h"

struct build {
    const struct draft *draft;
    const char *folder; /* of the topology file, "." for a text in memory */
    const struct source *source;
    struct arena *arena;
    struct mistakes *mistakes;
    struct templates *templates; /* those that are made */
    struct config_topology *topology;
};

/*
 * Fills the topology, which lives in the arena. What is wrong with a file that
 * a setting names is a mistake; SEQB_STATE_DIR if there is no state
 * directory, SEQB_NO_MEMORY.
 */
enum seqb_status build_topology(const struct build *build,
                                struct seqb_error *err);
