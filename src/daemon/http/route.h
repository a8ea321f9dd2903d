/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of routes, parsing of the request's path and query, and the
 * requests that are refused before a route is called. Private to this folder.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <event2/http.h>
#include <event2/keyvalq_struct.h>

#include <seqbroker/seqbroker.h>

struct exchange;

/* What a request asks for. */
struct target {
    const struct route *route;
    char key[SEQB_KEY_MAX + 1]; /* the sequence's, or "" */
    struct evkeyvalq query;     /* names and values, decoded */
};

/* Answers a request, or lets it wait. */
typedef void route_function(struct exchange *exchange,
                            const struct target *target);

/* Finds the route and calls it, or answers why it cannot. */
void route_request(struct exchange *exchange);

/* The path of the i-th route, with "*" for a key; NULL past the last one. */
const char *route_path(size_t i);

/* --- the functions of the rows, by file --- */

/* events/events.c */
route_function events_route;

/* health.c */
route_function live_route;
route_function ready_route;

/* page.c */
route_function page_route;
route_function openapi_route;

/* reports.c */
route_function metrics_route;
route_function status_route;

/* sequences.c */
route_function next_route;
route_function number_route;
route_function decode_route;
route_function parse_route;
