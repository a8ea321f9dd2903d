/* SPDX-License-Identifier: Apache-2.0 */
/* The table of routes; see route.h. */
#include "daemon/http/route.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/daemon.h"
#include "daemon/http/admit/admit.h"
#include "daemon/http/exchange.h"
#include "daemon/http/problem.h"

#define READS (EVHTTP_REQ_GET | EVHTTP_REQ_HEAD)

#define ALLOW_SIZE 32

struct route {
    const char *path; /* "*" stands for a sequence's key */
    int methods;
    enum right needs;
    route_function *run;
};

static const struct route routes[] = {
    {"/", READS, RIGHT_READ, page_route},
    {"/livez", READS, RIGHT_OPEN, live_route},
    {"/readyz", READS, RIGHT_OPEN, ready_route},
    {"/metrics", READS, RIGHT_READ, metrics_route},
    {"/v1/status", READS, RIGHT_READ, status_route},
    {"/v1/events", READS, RIGHT_READ, events_route},
    {"/v1/sequences/*/next", EVHTTP_REQ_POST, RIGHT_TAKE, next_route},
    {"/v1/sequences/*/number", EVHTTP_REQ_POST, RIGHT_TAKE, number_route},
    {"/v1/sequences/*/decode", READS, RIGHT_READ, decode_route},
    {"/v1/sequences/*/parse", READS, RIGHT_READ, parse_route},
};

#define ROUTE_COUNT (sizeof routes / sizeof routes[0])

/* Whether the path matches the route; fills the key. The path is not decoded,
 * because no valid key has a character that needs encoding. */
static bool route_matches(const struct route *route, const char *path,
                          char key[SEQB_KEY_MAX + 1])
{
    const char *star = strchr(route->path, '*');
    const size_t before = star != NULL ? (size_t)(star - route->path) : 0;
    size_t length = 0;

    if (star == NULL)
        return strcmp(path, route->path) == 0;
    if (strncmp(path, route->path, before) != 0)
        return false;
    path += before;
    length = strcspn(path, "/");
    if (length == 0 || length > SEQB_KEY_MAX ||
        strcmp(path + length, star + 1) != 0)
        return false;
    memcpy(key, path, length);
    key[length] = '\0';
    return true;
}

static const struct route *route_find(const char *path,
                                      char key[SEQB_KEY_MAX + 1])
{
    for (size_t i = 0; i < ROUTE_COUNT; i++)
        if (route_matches(&routes[i], path, key))
            return &routes[i];
    return NULL;
}

static void refuse_method(struct exchange *exchange, const struct route *route)
{
    const bool reads = (route->methods & EVHTTP_REQ_GET) != 0;

    exchange_header(exchange, "Allow", reads ? "GET, HEAD" : "POST");
    problem_answer(exchange, HTTP_BADMETHOD, "ERR",
                   reads ? "this is read by GET"
                         : "numbers are taken by POST: it is not safe to "
                           "repeat");
}

/* Protects against cross-site requests: a page of another site may make a
 * browser send a POST, which would take numbers that nobody uses. Browsers name
 * the page's site in Origin. */
static bool is_foreign(struct evhttp_request *request)
{
    const struct evkeyvalq *headers = evhttp_request_get_input_headers(request);
    const char *origin = evhttp_find_header(headers, "Origin");
    const char *host = evhttp_find_header(headers, "Host");
    const char *site = origin != NULL ? strstr(origin, "://") : NULL;

    if (origin == NULL ||
        evhttp_request_get_command(request) != EVHTTP_REQ_POST)
        return false;
    return site == NULL || host == NULL || strcasecmp(site + 3, host) != 0;
}

/* Reads the query into `target`, which the caller clears. False after answering
 * why the request is refused. */
static bool target_read(struct exchange *exchange, struct target *target,
                        const char *query)
{
    if (is_foreign(exchange->request)) {
        problem_answer(exchange, 403, "ERR",
                       "this is a request of another site's page");
        return false;
    }
    /* A NUL would end a word early. */
    if (strstr(query, "%00") == NULL &&
        evhttp_parse_query_str(query, &target->query) == 0)
        return true;
    problem_answer(exchange, HTTP_BADREQUEST, "ERR",
                   "the query is not name=value&...");
    return false;
}

/* /metrics may be open to all even if there are users. */
static enum right route_needs(const struct exchange *exchange,
                              const struct route *route)
{
    return route->run == metrics_route &&
                   exchange->exchanges->daemon->access.has_open_metrics
               ? RIGHT_OPEN
               : route->needs;
}

void route_request(struct exchange *exchange)
{
    struct evhttp_request *request = exchange->request;
    const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
    const char *path = evhttp_uri_get_path(uri);
    const char *query = evhttp_uri_get_query(uri);
    struct target target = {.key = ""};

    target.route = route_find(path != NULL ? path : "", target.key);
    if (target.route == NULL) {
        problem_answer(exchange, HTTP_NOTFOUND, "ERR",
                       "there is no such path: see docs/http.md");
        return;
    }
    if ((target.route->methods & (int)evhttp_request_get_command(request)) ==
        0) {
        refuse_method(exchange, target.route);
        return;
    }
    exchange->route = route_request;
    if (!admit(exchange, route_needs(exchange, target.route),
               target.route->path, target.key))
        return;
    TAILQ_INIT(&target.query);
    if (target_read(exchange, &target, query != NULL ? query : ""))
        target.route->run(exchange, &target);
    evhttp_clear_headers(&target.query);
}

const char *route_path(size_t i)
{
    return i < ROUTE_COUNT ? routes[i].path : NULL;
}
