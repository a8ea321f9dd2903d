/* SPDX-License-Identifier: Apache-2.0 */
/* Where a topology's files are: the state directory, paths in it and beside
 * the topology. Makes nothing. */
#pragma once

#include <seqbroker/status.h>

#include "config/arena.h"

/* `path` from `folder` unless it is absolute, without "//" and "/./", so that
 * one file has one spelling. NULL when out of memory. */
char *place_join(struct arena *arena, const char *folder, const char *path);

/*
 * The state directory, absolute: $SEQBROKER_STATE_DIR, else `configured`
 * (which may be NULL), else $XDG_STATE_HOME/seqbroker, else
 * $HOME/.local/state/seqbroker. SEQB_STATE_DIR if none is set,
 * SEQB_NO_MEMORY.
 */
enum seqb_status place_state_dir(struct arena *arena, const char *configured,
                                 const char **out, struct seqb_error *err);

/* A variable of the environment; NULL if it is not set, or empty. */
const char *place_variable(const char *name);
