/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up the server's name within the deadline of the open. */
#pragma once

#include "backends/mysql/link.h"

#define MYSQL_HOST_SIZE 256

/*
 * The host to give to the client library, which itself looks names up without a
 * time limit. It is the address if the name has one and no certificate needs
 * the name; otherwise it is the name, whose look-up just succeeded.
 * SEQB_UNREACHABLE; SEQB_INVALID for a name that is too long.
 */
enum seqb_status mysql_host_find(const struct mysql_link *link,
                                 const struct seqb_backend_options *options,
                                 char out[static MYSQL_HOST_SIZE],
                                 struct seqb_error *err);
