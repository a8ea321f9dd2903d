/* SPDX-License-Identifier: Apache-2.0 */
/* Who may have a request answered. The front header of this folder. */
#pragma once

#include <stdbool.h>

#include "daemon/access/access.h"

struct exchange;

/* Whether a client of TLS may ask for anything: where users are wanted, its
 * certificate has to be that of one. False: it is answered. */
bool admit_certificate(struct exchange *exchange);

/* Whether the request for the path, and for the key if it is not "", may go on:
 * finds out who asks, by the header Authorization if there is one. False: it is
 * answered, or its login is looked at, after which it is routed again. */
bool admit(struct exchange *exchange, enum right needs, const char *path,
           const char *key);
