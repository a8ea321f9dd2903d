/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses as texts; see address.h. */
#include "daemon/address.h"

#include <netdb.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/un.h>

void address_print(const struct sockaddr_storage *address, socklen_t length,
                   char out[ADDRESS_SIZE])
{
    const struct sockaddr *plain = (const struct sockaddr *)address;
    const struct sockaddr_un *local = (const struct sockaddr_un *)address;
    const size_t path = offsetof(struct sockaddr_un, sun_path);
    char host[NI_MAXHOST] = "?";
    char port[NI_MAXSERV] = "0";

    if (address->ss_family == AF_UNIX) {
        snprintf(out, ADDRESS_SIZE, "%.*s:0",
                 length > path ? (int)(length - path) : 0, local->sun_path);
        return;
    }
    (void)getnameinfo(plain, length, host, sizeof host, port, sizeof port,
                      NI_NUMERICHOST | NI_NUMERICSERV);
    if (address->ss_family == AF_INET6)
        snprintf(out, ADDRESS_SIZE, "[%.100s]:%.8s", host, port);
    else
        snprintf(out, ADDRESS_SIZE, "%.100s:%.8s", host, port);
}
