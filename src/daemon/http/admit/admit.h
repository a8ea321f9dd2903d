/* SPDX-License-Identifier: Apache-2.0 */
/* Authentication and authorization of HTTP requests. The front header of this
 * folder. */
#pragma once

#include <stdbool.h>

#include "daemon/access/access.h"

struct exchange;

/* Whether a client of TLS is admitted at all: if access.wants_user is set, its
 * certificate must belong to a user. If false, the refusal is answered. */
bool admit_certificate(struct exchange *exchange);

/* Whether the request for the path, and for the key unless it is "", may
 * continue. Identifies the client first, by the header Authorization if there
 * is one. If false, either the refusal is answered, or a login is pending,
 * after which the request is routed again. */
bool admit(struct exchange *exchange, enum right needs, const char *path,
           const char *key);
