/* SPDX-License-Identifier: Apache-2.0 */
/* The address of a socket, as people and Redis write it. */
#pragma once

#include <sys/socket.h>

#define ADDRESS_SIZE 160

/* Writes "127.0.0.1:7379", "[::1]:7379", or "/run/seqbrokerd.sock:0" of a unix
 * socket, of which one without a name is ":0". */
void address_print(const struct sockaddr_storage *address, socklen_t length,
                   char out[ADDRESS_SIZE]);
