/* SPDX-License-Identifier: Apache-2.0 */
/* The table of routes; see route.h. */
#include "daemon/http/route.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <event2/buffer.h>
#include <event2/http_struct.h>

#include "daemon/daemon.h"
#include "daemon/http/admit/admit.h"
#include "daemon/http/exchange.h"
#include "daemon/http/problem.h"
#include "daemon/wire/wire.h"

#define READS (EVHTTP_REQ_GET | EVHTTP_REQ_HEAD)

struct route {
    const char *path; /* "*" stands for a sequence's key */
    int methods;
    enum right needs;
    route_function *run;
};

static const struct route routes[] = {
    {"/", READS, RIGHT_READ, page_route},
    {"/openapi.json", READS, RIGHT_READ, openapi_route},
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

/* Whether the path matches the route. `*key` is the rest of the path from the
 * key on, and `*length` how long the key is, both NULL and 0 without a key. */
static bool route_matches(const struct route *route, const char *path,
                          const char **key, size_t *length)
{
    const char *star = strchr(route->path, '*');
    const size_t before = star != NULL ? (size_t)(star - route->path) : 0;

    *key = NULL;
    *length = 0;
    if (star == NULL)
        return strcmp(path, route->path) == 0;
    if (strncmp(path, route->path, before) != 0)
        return false;
    *key = path + before;
    *length = strcspn(*key, "/");
    return *length > 0 && strcmp(*key + *length, star + 1) == 0;
}

static const struct route *route_find(const char *path, const char **key,
                                      size_t *length)
{
    for (size_t i = 0; i < ROUTE_COUNT; i++)
        if (route_matches(&routes[i], path, key, length))
            return &routes[i];
    return NULL;
}

static int hex_value(char digit)
{
    static const char digits[] = "0123456789abcdef";
    const char *at =
        digit != '\0' ? strchr(digits, tolower((unsigned char)digit)) : NULL;

    return at != NULL ? (int)(at - digits) : -1;
}

/* Decodes the key: it is checked against the user's keys as the command gets
 * it. NULL, or why it cannot be a key. */
static const char *key_decode(const char *from, size_t length,
                              char key[SEQB_KEY_MAX + 1])
{
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        int byte = (unsigned char)from[i];

        if (used == SEQB_KEY_MAX)
            return "the key is too long";
        if (byte == '%') {
            const int high = i + 2 < length ? hex_value(from[i + 1]) : -1;
            const int low = i + 2 < length ? hex_value(from[i + 2]) : -1;

            byte = high < 0 || low < 0 ? '\0' : high * 16 + low;
            i += 2;
        }
        if (byte == '\0' || byte == '/')
            return "the key has %00 or %2F, or a % without two digits";
        key[used++] = (char)byte;
    }
    key[used] = '\0';
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

static bool has_too_many(const struct evkeyvalq *query)
{
    const struct evkeyval *pair = NULL;
    size_t count = 0;

    TAILQ_FOREACH(pair, query, next)
        count++;
    return count > RESP_ARGUMENTS_MAX;
}

/* Compares each with each: the query is bounded. */
static bool has_name_twice(const struct evkeyvalq *query)
{
    const struct evkeyval *pair = NULL;
    const struct evkeyval *other = NULL;

    TAILQ_FOREACH(pair, query, next) {
        for (other = TAILQ_NEXT(pair, next); other != NULL;
             other = TAILQ_NEXT(other, next))
            if (strcmp(pair->key, other->key) == 0)
                return true;
    }
    return false;
}

static const char no_memory[] = "out of memory";

/* What is wrong with the request; NULL: nothing. A NUL would end a word early.
 */
static const char *query_read(struct target *target, const char *query)
{
    errno = 0;
    if (strstr(query, "%00") != NULL ||
        evhttp_parse_query_str(query, &target->query) != 0)
        return errno == ENOMEM ? no_memory : "the query is not name=value&...";
    if (has_too_many(&target->query))
        return "there are too many parameters";
    if (has_name_twice(&target->query))
        return "the query has a name twice";
    return NULL;
}

/* Reads the query into `target`, which the caller clears. False after answering
 * why the request is refused. */
static bool target_read(struct exchange *exchange, struct target *target,
                        const char *query)
{
    const char *why = NULL;

    if (is_foreign(exchange->request)) {
        problem_answer(exchange, 403, "ERR",
                       "this is a request of another site's page");
        return false;
    }
    why = query_read(target, query);
    if (why == NULL)
        return true;
    if (why == no_memory)
        problem_answer(exchange, HTTP_SERVUNAVAIL, "NOMEMORY", why);
    else
        problem_answer(exchange, HTTP_BADREQUEST, "ERR", why);
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

static int header_count(struct evhttp_request *request, const char *name)
{
    const struct evkeyval *header = NULL;
    int count = 0;

    TAILQ_FOREACH(header, evhttp_request_get_input_headers(request), next)
        count += evutil_ascii_strcasecmp(header->key, name) == 0;
    return count;
}

static bool lacks_host(struct evhttp_request *request)
{
    const bool is_old =
        request->major < 1 || (request->major == 1 && request->minor == 0);

    return !is_old && header_count(request, "Host") == 0;
}

static bool has_body(struct evhttp_request *request)
{
    const char *length = evhttp_find_header(
        evhttp_request_get_input_headers(request), "Content-Length");

    return header_count(request, "Transfer-Encoding") > 0 ||
           (length != NULL && strcmp(length, "0") != 0);
}

/* Why a proxy may read the request otherwise than this server; NULL: it does
 * not. libevent reads the body by the first length. A proxy that goes by
 * another one would take the rest for a body, and not for a request of somebody
 * else. RFC 9112, section 3.2, has the rules of Host. */
static const char *ambiguity(struct evhttp_request *request)
{
    if (header_count(request, "Content-Length") > 1)
        return "the request has two lengths";
    if (header_count(request, "Host") > 1)
        return "the request has two Host headers";
    if (has_body(request))
        return "the request has a body: parameters are in the query";
    return lacks_host(request) ? "the request has no Host header" : NULL;
}

static void refuse_ambiguous(struct exchange *exchange, const char *why)
{
    exchange_header(exchange, "Connection", "close");
    problem_answer(exchange, HTTP_BADREQUEST, "ERR", why);
}

void route_request(struct exchange *exchange)
{
    struct evhttp_request *request = exchange->request;
    const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
    const char *path = evhttp_uri_get_path(uri);
    const char *query = evhttp_uri_get_query(uri);
    struct target target = {.key = ""};
    const char *why = ambiguity(request);
    const char *key = NULL;
    size_t length = 0;

    if (why != NULL) {
        refuse_ambiguous(exchange, why);
        return;
    }
    target.route = route_find(path != NULL ? path : "", &key, &length);
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
    why = key_decode(key, length, target.key);
    if (why != NULL) {
        problem_answer(exchange, HTTP_BADREQUEST, "ERR", why);
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
