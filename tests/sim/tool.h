/* SPDX-License-Identifier: Apache-2.0 */
/* A program of an operator, with connections of its own, which may be killed.
 */
#pragma once

#include "run.h"

struct tool {
    struct run *run;
    struct site sites[SCENE_BACKENDS];
    struct store_options backends[SCENE_BACKENDS]; /* as in the scene */
};

void tool_init(struct tool *tool, struct run *run);
void tool_fini(struct tool *tool);

/* What was sent still arrives; nothing more is sent. */
void tool_kill(struct tool *tool);

/* A line that the program says. */
void tool_report(void *context, const char *line);
