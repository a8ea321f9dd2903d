/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to a cluster: endpoints, login, errors. */
#include "backends/etcd/link.h"

#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

/* The codes of gRPC, which the gateway repeats in the body of an error. */
enum code {
    CODE_NONE = -1, /* it is not an error of etcd */
    CODE_INVALID = 3,
    CODE_NOT_FOUND = 5,
    CODE_DENIED = 7,
    CODE_EXHAUSTED = 8,
    CODE_PRECONDITION = 9,
    CODE_OUT_OF_RANGE = 11,
    CODE_UNIMPLEMENTED = 12,
    CODE_UNAUTHENTICATED = 16
};

/* The result of an attempt. */
enum attempt { ATTEMPT_DONE, ATTEMPT_FAILED, ATTEMPT_NEXT, ATTEMPT_LOGIN };

/* --- open and close --- */

static bool endpoint_add(struct etcd_link *link,
                         const struct seqb_backend_options *options,
                         const char *address)
{
    return link->count < ETCD_ENDPOINTS_MAX &&
           text_format(link->endpoints[link->count++], ETCD_URL_SIZE, "%s://%s",
                       options->tls == SEQB_TLS_OFF ? "http" : "https",
                       address);
}

static bool endpoints_add(struct etcd_link *link,
                          const struct seqb_backend_options *options)
{
    char address[ETCD_URL_SIZE];
    const bool is_ipv6 =
        options->host != NULL && strchr(options->host, ':') != NULL;

    if (options->endpoints == NULL)
        return options->host != NULL &&
               text_format(address, sizeof address,
                           is_ipv6 ? "[%s]:%d" : "%s:%d", options->host,
                           (int)options->port) &&
               endpoint_add(link, options, address);
    for (size_t i = 0; options->endpoints[i] != NULL; i++) {
        if (!endpoint_add(link, options, options->endpoints[i]))
            return false;
    }
    return link->count > 0;
}

enum seqb_status etcd_link_open(struct etcd_link *link,
                                const struct seqb_backend_options *options,
                                struct seqb_error *err)
{
    if (!endpoints_add(link, options))
        return error_set(err, SEQB_INVALID,
                         "%s: etcd needs a host, or 1 to %d endpoints",
                         options->name, ETCD_ENDPOINTS_MAX);
    (void)text_format(link->where, sizeof link->where, "%s (etcd %s)",
                      options->name, strstr(link->endpoints[0], "//") + 2);
    link->user = options->user;
    link->password = options->password != NULL ? options->password : "";
    if (!etcd_http_open(&link->http, options))
        return error_set(err, SEQB_NO_MEMORY,
                         "%s: libcurl cannot be set up: out of memory, or it "
                         "lacks TLS (%s)",
                         link->where, etcd_http_library());
    return SEQB_OK;
}

void etcd_link_begin(struct etcd_link *link, int32_t budget_ms)
{
    link->budget_ms = budget_ms;
    link->deadline_ms = clock_now_ms() + budget_ms;
}

bool etcd_link_is_late(const struct etcd_link *link)
{
    return clock_now_ms() >= link->deadline_ms;
}

void etcd_link_close(struct etcd_link *link)
{
    etcd_http_close(&link->http);
    etcd_text_fini(&link->body);
}

/* --- answers --- */

bool etcd_number_read(const json_t *object, const char *name, int64_t *out)
{
    const json_t *value = json_object_get(object, name);

    *out = 0;
    if (value == NULL)
        return true;
    return json_is_string(value) &&
           text_to_int64(json_string_value(value), json_string_length(value),
                         out) &&
           *out >= 0;
}

/* An id is a uint64 above 0. */
static bool id_read(const json_t *header, const char *name,
                    char out[static ETCD_ID_SIZE])
{
    const char *text = json_string_value(json_object_get(header, name));

    return text != NULL && text[0] >= '1' && text[0] <= '9' &&
           strspn(text, "0123456789") == strlen(text) &&
           text_copy(out, ETCD_ID_SIZE, text);
}

enum seqb_status etcd_link_distrust(const struct etcd_link *link,
                                    enum etcd_kind kind, const char *what,
                                    struct seqb_error *err)
{
    return error_set(err, kind == ETCD_WRITE ? SEQB_UNCERTAIN : SEQB_PROTOCOL,
                     "%s: %s makes no sense: is it the client port of an etcd "
                     "3.4 or later?",
                     link->where, what);
}

/* Checks that the answer comes from this cluster. */
static enum seqb_status header_read(struct etcd_link *link, enum etcd_kind kind,
                                    const json_t *answer,
                                    struct seqb_error *err)
{
    const json_t *header = json_object_get(answer, "header");
    char cluster[ETCD_ID_SIZE];

    if (!id_read(header, "cluster_id", cluster) ||
        !id_read(header, "member_id", link->member) ||
        !etcd_number_read(header, "raft_term", &link->term) || link->term < 1)
        return etcd_link_distrust(link, kind, "the header of an answer", err);
    if (link->cluster[0] == '\0')
        (void)text_copy(link->cluster, sizeof link->cluster, cluster);
    if (strcmp(link->cluster, cluster) == 0)
        return SEQB_OK;
    return error_set(
        err, kind == ETCD_WRITE ? SEQB_UNCERTAIN : SEQB_UNREACHABLE,
        "%s: %s answers for cluster %s, not for %s: open it again", link->where,
        link->endpoints[link->current], cluster, link->cluster);
}

static enum seqb_status answer_read(struct etcd_link *link, enum etcd_kind kind,
                                    json_t **out, struct seqb_error *err)
{
    const struct etcd_text *text = &link->http.answer;
    json_t *answer = text->length > 0 ? json_loadb(text->data, text->length,
                                                   JSON_REJECT_DUPLICATES, NULL)
                                      : NULL;
    enum seqb_status status;

    if (!json_is_object(answer)) {
        json_decref(answer);
        return etcd_link_distrust(link, kind, "an answer", err);
    }
    status = header_read(link, kind, answer, err);
    if (status == SEQB_OK)
        *out = answer;
    else
        json_decref(answer);
    return status;
}

/* --- errors --- */

/* The gRPC code in the answer, and its message. */
static int error_read(const struct etcd_link *link, char *words, size_t size)
{
    const struct etcd_text *text = &link->http.answer;
    json_t *answer = text->length > 0 ? json_loadb(text->data, text->length,
                                                   JSON_REJECT_DUPLICATES, NULL)
                                      : NULL;
    const json_t *code = json_object_get(answer, "code");
    const char *why = json_string_value(json_object_get(answer, "error"));
    const int result =
        json_is_integer(code) ? (int)json_integer_value(code) : CODE_NONE;

    if (why == NULL || !text_format(words, size, "%.120s", why))
        (void)text_format(words, size, "HTTP status %ld", link->http.code);
    json_decref(answer);
    return result;
}

/* Whether the server did not start the request, and another server would answer
 * the same. */
static bool code_refuses(int code)
{
    return code == CODE_INVALID || code == CODE_NOT_FOUND ||
           code == CODE_DENIED || code == CODE_EXHAUSTED ||
           code == CODE_PRECONDITION || code == CODE_OUT_OF_RANGE ||
           code == CODE_UNIMPLEMENTED || code == CODE_UNAUTHENTICATED;
}

/* Whether a new login is needed: the token expired, or users were changed since
 * it was made. */
static bool wants_login(const struct etcd_link *link, int code,
                        const char *words)
{
    return link->user != NULL &&
           (code == CODE_UNAUTHENTICATED ||
            (code == CODE_INVALID &&
             (strstr(words, "revision of auth store is old") != NULL ||
              strstr(words, "user name is empty") != NULL)));
}

/* After any other error, for example a time-out of a proposal, it is not known
 * whether the cluster will carry the request out. */
static enum attempt error_evaluate(struct etcd_link *link, enum etcd_kind kind,
                                   struct seqb_error *why)
{
    char words[160];
    const int code = error_read(link, words, sizeof words);

    if (code_refuses(code)) {
        error_set(why, SEQB_REFUSED, "%s: refused: %s", link->where, words);
        return wants_login(link, code, words) ? ATTEMPT_LOGIN : ATTEMPT_FAILED;
    }
    if (kind == ETCD_WRITE) {
        error_set(why, SEQB_UNCERTAIN,
                  "%s: not known whether it was written: %s", link->where,
                  words);
        return ATTEMPT_FAILED;
    }
    error_set(why, SEQB_UNREACHABLE, "%s: %s: %s", link->where,
              link->endpoints[link->current], words);
    return ATTEMPT_NEXT;
}

static enum attempt silence_evaluate(const struct etcd_link *link,
                                     enum etcd_kind kind,
                                     enum etcd_outcome outcome,
                                     struct seqb_error *why)
{
    const char *endpoint = link->endpoints[link->current];

    if (outcome == ETCD_NO_MEMORY) {
        error_set(why, SEQB_NO_MEMORY, "%s: out of memory", link->where);
        return ATTEMPT_FAILED;
    }
    if (outcome == ETCD_LOST && kind == ETCD_WRITE) {
        error_set(why, SEQB_UNCERTAIN, "%s: %s: the answer was lost: %.100s",
                  link->where, endpoint, link->http.error);
        return ATTEMPT_FAILED;
    }
    error_set(why, SEQB_UNREACHABLE, "%s: %s: %.100s", link->where, endpoint,
              link->http.error);
    return ATTEMPT_NEXT;
}

/* --- calls --- */

/* A post to an endpoint. */
struct post {
    enum etcd_kind kind;
    const char *path;
    const char *body; /* NULL: out of memory */
    int64_t budget_ms;
};

/* Does one post to the current endpoint. */
static enum attempt attempt_run(struct etcd_link *link, const struct post *post,
                                json_t **out, struct seqb_error *why)
{
    char url[ETCD_URL_SIZE + 64];
    enum etcd_outcome outcome;

    if (post->body == NULL ||
        !text_format(url, sizeof url, "%s%s", link->endpoints[link->current],
                     post->path)) {
        error_set(why, SEQB_NO_MEMORY, "%s: out of memory", link->where);
        return ATTEMPT_FAILED;
    }
    outcome = etcd_http_post(&link->http, url, link->token, post->body,
                             post->budget_ms);
    if (outcome != ETCD_ANSWERED)
        return silence_evaluate(link, post->kind, outcome, why);
    if (link->http.code != 200)
        return error_evaluate(link, post->kind, why);
    return answer_read(link, post->kind, out, why) == SEQB_OK ? ATTEMPT_DONE
                                                              : ATTEMPT_FAILED;
}

/* Gets a new token from the current endpoint. */
static enum attempt login_run(struct etcd_link *link, int64_t budget_ms,
                              struct seqb_error *why)
{
    json_t *words =
        json_pack("{s:s, s:s}", "name", link->user, "password", link->password);
    char *body = words != NULL ? json_dumps(words, JSON_COMPACT) : NULL;
    json_t *answer = NULL;
    enum attempt attempt;

    json_decref(words);
    link->token[0] = '\0';
    attempt = attempt_run(
        link,
        &(struct post){ETCD_READ, "/v3/auth/authenticate", body, budget_ms},
        &answer, why);
    if (body != NULL)
        explicit_bzero(body, strlen(body));
    free(body);
    if (attempt == ATTEMPT_DONE) {
        const char *token = json_string_value(json_object_get(answer, "token"));

        if (token == NULL || strpbrk(token, "\r\n") != NULL ||
            !text_copy(link->token, sizeof link->token, token)) {
            link->token[0] = '\0';
            etcd_link_distrust(link, ETCD_READ, "a token", why);
            attempt = ATTEMPT_FAILED;
        }
    }
    json_decref(answer);
    return attempt == ATTEMPT_LOGIN ? ATTEMPT_FAILED : attempt;
}

/* The time for an attempt: a read leaves time for the remaining endpoints. */
static int64_t budget_of(const struct etcd_link *link, enum etcd_kind kind,
                         size_t tried)
{
    const int64_t rest = link->deadline_ms - clock_now_ms();

    return kind == ETCD_READ ? rest / (int64_t)(link->count - tried) : rest;
}

static enum attempt endpoint_ask(struct etcd_link *link, struct post *post,
                                 size_t tried, json_t **out,
                                 struct seqb_error *why)
{
    enum attempt attempt = ATTEMPT_LOGIN;

    post->budget_ms = budget_of(link, post->kind, tried);
    if (link->user == NULL || link->token[0] != '\0')
        attempt = attempt_run(link, post, out, why);
    if (attempt != ATTEMPT_LOGIN)
        return attempt;
    attempt = login_run(link, budget_of(link, ETCD_READ, tried), why);
    if (attempt != ATTEMPT_DONE)
        return attempt;
    post->budget_ms = budget_of(link, post->kind, tried);
    attempt = attempt_run(link, post, out, why);
    return attempt == ATTEMPT_LOGIN ? ATTEMPT_FAILED : attempt;
}

enum seqb_status etcd_link_ask(struct etcd_link *link, enum etcd_kind kind,
                               const char *path, json_t **out,
                               struct seqb_error *err)
{
    struct post post = {kind, path, link->body.data, 0};
    struct seqb_error why;

    if (link->body.has_failed)
        return error_set(err, SEQB_NO_MEMORY, "%s: out of memory", link->where);
    error_set(&why, SEQB_UNREACHABLE, "%s: no answer within %d ms", link->where,
              (int)link->budget_ms);
    for (size_t tried = 0; tried < link->count && !etcd_link_is_late(link);
         tried++) {
        const enum attempt attempt =
            endpoint_ask(link, &post, tried, out, &why);

        if (attempt == ATTEMPT_DONE)
            return SEQB_OK;
        if (attempt == ATTEMPT_FAILED)
            return error_copy(err, &why);
        link->current = (link->current + 1) % link->count;
    }
    return error_copy(err, &why);
}
