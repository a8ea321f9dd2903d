/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The servers that the benches over a wire compare: seqbrokerd of this build,
 * and the one that answers a constant; redis-server is in support. They are
 * used by support/servers.h, and end with the program.
 */
#pragma once

#include "support/servers.h"

/* seqbrokerd on a topology, which must be an absolute path that lives as long
 * as the server; its state is in the server's folder. */
struct server *peer_seqbrokerd(const char *topology);

/* The same, but it need not answer yet. */
struct server *peer_seqbrokerd_starting(const char *topology);

struct server *peer_constant(void);

/* Resident memory of a server's process, in MB. */
double peer_resident_mb(const struct server *server);

/* The most of it since peer_peak_reset. */
double peer_peak_mb(const struct server *server);
void peer_peak_reset(const struct server *server);

/* Processor time that it has used, all threads, in seconds. */
double peer_cpu_s(const struct server *server);

/* "tcp:PORT" and "unix:PATH" of a server. */
#define PEER_ADDRESS_SIZE 96
void peer_tcp(const struct server *server, char out[static PEER_ADDRESS_SIZE]);
void peer_unix(const struct server *server, char out[static PEER_ADDRESS_SIZE]);
