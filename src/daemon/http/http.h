/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP interface: probes, metrics, the status, and numbers (docs/http.md).
 * It shares the loop with the Redis protocol, and commands with its sessions.
 * The front header of this folder.
 */
#pragma once

#include <stdbool.h>

#include <seqbroker/status.h>

struct daemon;
struct event_base;
struct http;
struct inherited_socket;
struct listener;

/* Takes over a TCP socket, where clients are refused or wait until http_listen,
 * and closes it if it fails. `daemon` and `base` stay the caller's.
 * SEQB_NO_MEMORY. */
enum seqb_status http_open(struct daemon *daemon, struct event_base *base,
                           const struct listener *listener, struct http **out,
                           struct seqb_error *err);

/* From now on clients can connect: the daemon's broker is open. SEQB_INVALID.
 */
enum seqb_status http_listen(struct http *http, struct seqb_error *err);

/* The address in use. */
const char *http_name(const struct http *http);

/* Takes no new connection, and refuses what waits for a number. The loop is
 * broken when that is sent and the daemon is done. `keeps`: clients that
 * connect wait for who gets the socket by http_release. Takes NULL. */
void http_finish(struct http *http, bool keeps);

/* Gives the socket away, as it listens; to be called after http_finish. */
struct inherited_socket http_release(struct http *http);

/* Closes all connections; to be called before the broker is closed. Takes NULL
 * and half-built ones. */
void http_close(struct http *http);
