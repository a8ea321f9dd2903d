/* SPDX-License-Identifier: Apache-2.0 */
/* The server's name, looked up within the deadline of the open. */
#pragma once

#include "backends/mysql/link.h"

#define MYSQL_HOST_SIZE 256

/*
 * What the client library, which looks names up without a limit, is to be told:
 * the address where the name has one and no certificate has to be of the name,
 * else the name, which has been found a moment ago. SEQB_UNREACHABLE;
 * SEQB_INVALID for a name that is too long.
 */
enum seqb_status mysql_host_find(const struct mysql_link *link,
                                 const struct seqb_backend_options *options,
                                 char out[static MYSQL_HOST_SIZE],
                                 struct seqb_error *err);
