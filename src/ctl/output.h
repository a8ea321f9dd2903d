/* SPDX-License-Identifier: Apache-2.0 */
/* How a broker's status is shown: tables for a person, JSON for a program. */
#pragma once

#include <hiredis/hiredis.h>

#include "ctl/ctl.h"

/* Each prints an answer to SEQ.STATUS on stdout. */
enum ctl_exit output_tables(const redisReply *status);
enum ctl_exit output_json(const redisReply *status);
