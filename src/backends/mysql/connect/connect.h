/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a connection: the client library, the look-up of the host, the
 * login, and what each session is set to. */
#pragma once

#include "backends/mysql/link.h"

/* The library's name and version, "mariadb connector/c 3.3.20". Static. */
const char *mysql_link_library(void);

/*
 * Connects, logs in, and sets the session up: autocommit, READ COMMITTED, UTC,
 * strict mode, and lock waits no longer than a call may take. The library
 * counts `connect_timeout_ms` in whole seconds, rounded up. The caller must
 * call mysql_link_close whatever this returns; `link` must be zeroed. Errors as
 * for open in backend.h. On success a call is in progress with the rest of
 * `connect_timeout_ms`.
 */
enum seqb_status mysql_link_open(struct mysql_link *link,
                                 const struct seqb_backend_options *options,
                                 struct seqb_error *err);
