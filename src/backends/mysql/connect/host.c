/* SPDX-License-Identifier: Apache-2.0 */
/* See host.h. */
#include "backends/mysql/connect/host.h"

#include <netdb.h>
#include <sys/socket.h>

#include "net/net.h"
#include "platform/error.h"
#include "platform/text.h"

enum seqb_status mysql_host_find(const struct mysql_link *link,
                                 const struct seqb_backend_options *options,
                                 char out[static MYSQL_HOST_SIZE],
                                 struct seqb_error *err)
{
    struct addrinfo *found = NULL;
    const char *why = lookup_host(options->host, 0, link->deadline_ms, &found);
    bool is_numeric;

    if (why != NULL)
        return error_set(err, SEQB_UNREACHABLE,
                         "%s: cannot connect: host not found: %s", link->where,
                         why);
    is_numeric = options->tls != SEQB_TLS_VERIFY && found->ai_next == NULL &&
                 getnameinfo(found->ai_addr, found->ai_addrlen, out,
                             MYSQL_HOST_SIZE, NULL, 0, NI_NUMERICHOST) == 0;
    freeaddrinfo(found);
    if (is_numeric || text_copy(out, MYSQL_HOST_SIZE, options->host))
        return SEQB_OK;
    return error_set(err, SEQB_INVALID, "%s: the host's name is too long",
                     link->where);
}
