/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of a SEQ.NEXT ... COUNT: kept until it has all of them, since
 * the head of an array cannot be taken back when the backends fail.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/commands.h"

struct batch;
struct lane;
struct session;

/* Takes `count` numbers and answers them as an array, a turn's share at a
 * time; to be called again, from where it stood, until it is done. */
enum command_outcome batch_run(struct session *session, struct lane *lane,
                               size_t count, bool is_text);

/* Takes NULL. */
void batch_free(struct batch *batch);
