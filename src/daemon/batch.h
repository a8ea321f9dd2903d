/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of a SEQ.NEXT ... COUNT, or the texts of a SEQ.NUMBER ... COUNT:
 * kept until it has all of them, since the head of an array cannot be taken
 * back when the backends fail.
 */
#pragma once

#include "daemon/commands.h"

struct batch;
struct lane;
struct session;
struct wish;

/* Takes what a wish for many asks for and answers it as an array, after the
 * stamp if that is wished for, a turn's share at a time; to be called again,
 * from where it stood, until it is done. */
enum command_outcome batch_run(struct session *session, struct lane *lane,
                               const struct wish *wish);

/* Takes NULL. */
void batch_free(struct batch *batch);
