/* SPDX-License-Identifier: Apache-2.0 */
/* Calls to a cluster: endpoints, login, errors. */
#include "backends/etcd/link.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backends/etcd/etcd.pb-c.h"
#include "backends/tls_files.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

/* gRPC's status codes. */
enum code {
    CODE_OK = 0,
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

static bool endpoint_add(struct etcd_link *link, const char *name)
{
    struct etcd_endpoint *endpoint = &link->endpoints[link->count];

    if (link->count == ETCD_ENDPOINTS_MAX ||
        !text_copy(endpoint->name, sizeof endpoint->name, name) ||
        !address_parse(name, &endpoint->address))
        return false;
    endpoint->target = (struct stream_target){
        .host = endpoint->address.host,
        .port = endpoint->address.port,
        .tls = &link->tls,
        .alpn = "h2",
    };
    link->count++;
    return true;
}

static bool endpoints_add(struct etcd_link *link,
                          const struct seqb_backend_options *options)
{
    char name[ETCD_ADDRESS_SIZE];
    const bool is_ipv6 =
        options->host != NULL && strchr(options->host, ':') != NULL;

    if (options->endpoints == NULL)
        return options->host != NULL &&
               text_format(name, sizeof name, is_ipv6 ? "[%s]:%d" : "%s:%d",
                           options->host, (int)options->port) &&
               endpoint_add(link, name);
    for (size_t i = 0; options->endpoints[i] != NULL; i++) {
        if (!endpoint_add(link, options->endpoints[i]))
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
                         "%s: etcd needs a host, or 1 to %d endpoints "
                         "\"host:port\"",
                         options->name, ETCD_ENDPOINTS_MAX);
    link->tls = tls_files_of(options);
    for (size_t i = 0; i < link->count && options->tls == SEQB_TLS_OFF; i++)
        link->endpoints[i].target.tls = NULL;
    (void)text_format(link->where, sizeof link->where, "%s (etcd %s)",
                      options->name, link->endpoints[0].name);
    link->user = options->user;
    link->password = options->password != NULL ? options->password : "";
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
    etcd_grpc_close(&link->grpc);
    etcd_buffer_fini(&link->body);
    explicit_bzero(link->token, sizeof link->token);
}

/* --- messages --- */

void etcd_link_add(struct etcd_link *link, const ProtobufCMessage *message)
{
    uint8_t *added = etcd_buffer_grow(
        &link->body, protobuf_c_message_get_packed_size(message));

    if (added != NULL)
        (void)protobuf_c_message_pack(message, added);
}

static void *alloc_noted(void *has_failed, size_t size)
{
    void *memory = malloc(size);

    if (memory == NULL)
        *(bool *)has_failed = true;
    return memory;
}

static void free_noted(void *has_failed, void *memory)
{
    (void)has_failed;
    free(memory);
}

void etcd_answer_free(ProtobufCMessage *answer)
{
    if (answer != NULL)
        protobuf_c_message_free_unpacked(answer, NULL);
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

static const Etcd__Header *header_of(const ProtobufCMessage *answer)
{
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field(answer->descriptor, 1);

    return *(Etcd__Header *const *)((const char *)answer + field->offset);
}

/* Checks that the answer comes from this cluster. */
static enum seqb_status header_read(struct etcd_link *link, enum etcd_kind kind,
                                    const ProtobufCMessage *answer,
                                    struct seqb_error *err)
{
    const Etcd__Header *header = header_of(answer);

    if (header == NULL || header->cluster_id == 0 || header->member_id == 0 ||
        header->raft_term < 1 || header->raft_term > INT64_MAX ||
        header->revision < 0)
        return etcd_link_distrust(link, kind, "the header of an answer", err);
    link->member = header->member_id;
    link->term = (int64_t)header->raft_term;
    if (link->cluster == 0)
        link->cluster = header->cluster_id;
    if (link->cluster == header->cluster_id)
        return SEQB_OK;
    return error_set(err,
                     kind == ETCD_WRITE ? SEQB_UNCERTAIN : SEQB_UNREACHABLE,
                     "%s: %s answers for cluster %" PRIu64 ", not for %" PRIu64
                     ": open it again",
                     link->where, link->endpoints[link->current].name,
                     header->cluster_id, link->cluster);
}

static enum seqb_status answer_read(struct etcd_link *link, enum etcd_kind kind,
                                    const struct etcd_method *method,
                                    ProtobufCMessage **out,
                                    struct seqb_error *err)
{
    const struct etcd_grpc *grpc = &link->grpc;
    bool has_failed = false;
    ProtobufCAllocator allocator = {alloc_noted, free_noted, &has_failed};
    ProtobufCMessage *answer =
        grpc->message != NULL
            ? protobuf_c_message_unpack(method->answer, &allocator,
                                        grpc->length, grpc->message)
            : NULL;
    enum seqb_status status;

    if (answer == NULL && has_failed)
        return error_set(err,
                         kind == ETCD_WRITE ? SEQB_UNCERTAIN : SEQB_NO_MEMORY,
                         "%s: out of memory for an answer", link->where);
    if (answer == NULL)
        return etcd_link_distrust(link, kind, "an answer", err);
    status = header_read(link, kind, answer, err);
    if (status == SEQB_OK)
        *out = answer;
    else
        etcd_answer_free(answer);
    return status;
}

/* --- errors --- */

/* Whether the server did not start the request, and another server would answer
 * the same. */
static bool code_refuses(int code)
{
    return code == CODE_INVALID || code == CODE_NOT_FOUND ||
           code == CODE_DENIED || code == CODE_PRECONDITION ||
           code == CODE_OUT_OF_RANGE || code == CODE_UNIMPLEMENTED ||
           code == CODE_UNAUTHENTICATED;
}

/* etcd says with one code that it has too many requests or no space. For the
 * first one nothing was proposed: processInternalRaftRequestOnce in
 * etcdserver/v3_server.go compares what is committed with what is applied. The
 * second one is also the answer to a write that was carried out:
 * quotaApplierV3.Txn in etcdserver/apply.go applies it, and then answers that
 * it is above the quota (etcd 3.4.9). */
static bool is_refused(const struct etcd_grpc *grpc, enum etcd_kind kind)
{
    if (grpc->code == CODE_EXHAUSTED)
        return kind == ETCD_READ ||
               strcmp(grpc->words, "etcdserver: too many requests") == 0;
    return code_refuses(grpc->code);
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
    const struct etcd_grpc *grpc = &link->grpc;

    if (is_refused(grpc, kind)) {
        error_set(why, SEQB_REFUSED, "%s: refused: %s", link->where,
                  grpc->words);
        return wants_login(link, grpc->code, grpc->words) ? ATTEMPT_LOGIN
                                                          : ATTEMPT_FAILED;
    }
    if (kind == ETCD_WRITE) {
        error_set(why, SEQB_UNCERTAIN,
                  "%s: not known whether it was written: %s", link->where,
                  grpc->words);
        return ATTEMPT_FAILED;
    }
    error_set(why, SEQB_UNREACHABLE, "%s: %s: %s", link->where,
              link->endpoints[link->current].name, grpc->words);
    return ATTEMPT_NEXT;
}

static enum attempt silence_evaluate(const struct etcd_link *link,
                                     enum etcd_kind kind,
                                     enum etcd_outcome outcome,
                                     struct seqb_error *why)
{
    const char *endpoint = link->endpoints[link->current].name;

    if (outcome == ETCD_NO_MEMORY) {
        error_set(why, SEQB_NO_MEMORY, "%s: out of memory", link->where);
        return ATTEMPT_FAILED;
    }
    if (outcome == ETCD_INVALID) {
        error_set(why, SEQB_INVALID, "%s: %s", link->where, link->grpc.words);
        return ATTEMPT_FAILED;
    }
    if (outcome == ETCD_LOST && kind == ETCD_WRITE) {
        error_set(why, SEQB_UNCERTAIN, "%s: %s: the answer was lost: %s",
                  link->where, endpoint, link->grpc.words);
        return ATTEMPT_FAILED;
    }
    error_set(why, SEQB_UNREACHABLE, "%s: %s: %s", link->where, endpoint,
              link->grpc.words);
    return ATTEMPT_NEXT;
}

/* --- calls --- */

static const struct etcd_method authenticate = {
    "/etcdserverpb.Auth/Authenticate",
    &etcd__authenticate_response__descriptor};

struct ask {
    enum etcd_kind kind;
    const struct etcd_method *method;
    const struct etcd_buffer *message;
    int64_t budget_ms;
};

/* Calls the current endpoint once. */
static enum attempt attempt_run(struct etcd_link *link, const struct ask *ask,
                                ProtobufCMessage **out, struct seqb_error *why)
{
    const struct etcd_endpoint *endpoint = &link->endpoints[link->current];
    const struct etcd_call call = {
        .path = ask->method->path,
        .authority = endpoint->name,
        .token = link->token,
        .request = ask->message,
        .budget_ms = (int32_t)ask->budget_ms,
        .connection = ask->kind == ETCD_WRITE ? link->connection : 0,
    };
    const enum etcd_outcome outcome =
        etcd_grpc_call(&link->grpc, &endpoint->target, &call);

    if (outcome != ETCD_ANSWERED)
        return silence_evaluate(link, ask->kind, outcome, why);
    if (link->grpc.code != CODE_OK)
        return error_evaluate(link, ask->kind, why);
    return answer_read(link, ask->kind, ask->method, out, why) == SEQB_OK
               ? ATTEMPT_DONE
               : ATTEMPT_FAILED;
}

/* The message that logs in; it is to be wiped. */
static bool login_make(const struct etcd_link *link, struct etcd_buffer *out)
{
    Etcd__AuthenticateRequest request = ETCD__AUTHENTICATE_REQUEST__INIT;
    uint8_t *added;

    request.name = (char *)(uintptr_t)link->user;
    request.password = (char *)(uintptr_t)link->password;
    added = etcd_buffer_grow(
        out, etcd__authenticate_request__get_packed_size(&request));
    if (added != NULL)
        (void)etcd__authenticate_request__pack(&request, added);
    return added != NULL;
}

/* A token is sent in a header. */
static bool token_take(struct etcd_link *link,
                       const Etcd__AuthenticateResponse *answer)
{
    const char *token = answer != NULL ? answer->token : "";

    if (token[0] != '\0' && strpbrk(token, "\r\n") == NULL &&
        text_copy(link->token, sizeof link->token, token))
        return true;
    link->token[0] = '\0';
    return false;
}

/* Gets a new token from the current endpoint. */
static enum attempt login_run(struct etcd_link *link, int64_t budget_ms,
                              struct seqb_error *why)
{
    struct etcd_buffer message = {.data = NULL};
    const struct ask ask = {ETCD_READ, &authenticate, &message, budget_ms};
    ProtobufCMessage *answer = NULL;
    enum attempt attempt = ATTEMPT_FAILED;

    link->token[0] = '\0';
    if (login_make(link, &message))
        attempt = attempt_run(link, &ask, &answer, why);
    else
        error_set(why, SEQB_NO_MEMORY, "%s: out of memory", link->where);
    if (message.data != NULL)
        explicit_bzero(message.data, message.length);
    etcd_buffer_fini(&message);
    if (attempt == ATTEMPT_DONE &&
        !token_take(link, (const Etcd__AuthenticateResponse *)answer)) {
        etcd_link_distrust(link, ETCD_READ, "a token", why);
        attempt = ATTEMPT_FAILED;
    }
    etcd_answer_free(answer);
    etcd_grpc_wipe(&link->grpc);
    if (attempt == ATTEMPT_DONE && etcd_link_is_late(link)) {
        error_set(why, SEQB_UNREACHABLE, "%s: no time is left after the login",
                  link->where);
        attempt = ATTEMPT_FAILED;
    }
    return attempt == ATTEMPT_LOGIN ? ATTEMPT_FAILED : attempt;
}

/* The time for an attempt: a read leaves time for the remaining endpoints. */
static int64_t budget_of(const struct etcd_link *link, enum etcd_kind kind,
                         size_t tried)
{
    const int64_t rest = link->deadline_ms - clock_now_ms();

    return kind == ETCD_READ ? rest / (int64_t)(link->count - tried) : rest;
}

static enum attempt endpoint_ask(struct etcd_link *link, struct ask *ask,
                                 size_t tried, ProtobufCMessage **out,
                                 struct seqb_error *why)
{
    enum attempt attempt = ATTEMPT_LOGIN;

    ask->budget_ms = budget_of(link, ask->kind, tried);
    if (link->user == NULL || link->token[0] != '\0')
        attempt = attempt_run(link, ask, out, why);
    if (attempt != ATTEMPT_LOGIN)
        return attempt;
    attempt = login_run(link, budget_of(link, ETCD_READ, tried), why);
    if (attempt != ATTEMPT_DONE)
        return attempt;
    ask->budget_ms = budget_of(link, ask->kind, tried);
    attempt = attempt_run(link, ask, out, why);
    return attempt == ATTEMPT_LOGIN ? ATTEMPT_FAILED : attempt;
}

enum seqb_status etcd_link_ask(struct etcd_link *link, enum etcd_kind kind,
                               const struct etcd_method *method,
                               ProtobufCMessage **out, struct seqb_error *err)
{
    struct ask ask = {kind, method, &link->body, 0};
    struct seqb_error why;

    if (link->body.has_failed)
        return error_set(err, SEQB_NO_MEMORY, "%s: out of memory", link->where);
    error_set(&why, SEQB_UNREACHABLE, "%s: no answer within %d ms", link->where,
              (int)link->budget_ms);
    for (size_t tried = 0; tried < link->count && !etcd_link_is_late(link);
         tried++) {
        const enum attempt attempt = endpoint_ask(link, &ask, tried, out, &why);

        if (attempt == ATTEMPT_DONE)
            return SEQB_OK;
        if (attempt == ATTEMPT_FAILED)
            return error_copy(err, &why);
        link->current = (link->current + 1) % link->count;
    }
    return error_copy(err, &why);
}
