/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command does whose number is not at hand: it stands in the lane's
 * line, until the number comes or its deadline has passed.
 */
#pragma once

#include <stdbool.h>

#include <seqbroker/status.h>

#include "daemon/commands.h"

struct lane;
struct session;

/* Whether the session has to stand behind others that came before. */
bool wait_is_due(const struct session *session, const struct lane *lane);

/* The library has answered `err` instead of a number: waits if one may still
 * come in time, else answers the error. */
enum command_outcome wait_or_fail(struct session *session, struct lane *lane,
                                  const struct seqb_error *err);
