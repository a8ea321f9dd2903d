/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The etcd engine's link to a cluster. It tries one endpoint after the other
 * within the deadline of a call, logs in, and sets the status of a failure. An
 * answer counts only if it comes from the cluster that answered first.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>
#include <seqbroker/backend.h>

#include "backends/etcd/grpc.h"

#define ETCD_ENDPOINTS_MAX 16
#define ETCD_ADDRESS_SIZE  (HOST_SIZE + 8)
#define ETCD_TOKEN_SIZE    1024

/* A call that only reads may be repeated at another endpoint. */
enum etcd_kind { ETCD_READ, ETCD_WRITE };

/* A method of etcd's API. The first field of its answer is the header. */
struct etcd_method {
    const char *path;
    const ProtobufCMessageDescriptor *answer;
};

struct etcd_endpoint {
    char name[ETCD_ADDRESS_SIZE]; /* "host:port" */
    struct address address;
    struct stream_target target;
};

struct etcd_link {
    struct etcd_grpc grpc;
    struct tls_client_files tls;
    struct etcd_buffer body; /* the message of the next call */
    struct etcd_endpoint endpoints[ETCD_ENDPOINTS_MAX];
    size_t count;
    size_t current; /* the endpoint that answered last */
    const char *user;
    const char *password;
    char token[ETCD_TOKEN_SIZE]; /* "" until logged in */
    uint64_t cluster;            /* its id; 0 until the first answer */
    uint64_t member;             /* the member that answered last */
    int64_t term;                /* raft's, of the last answer */
    uint64_t connection;         /* the only one for writes; 0: any */
    int64_t deadline_ms;
    int32_t budget_ms;
    char where[128]; /* begins messages: "etcd-a (etcd 10.0.0.3:2379)" */
};

/* The options must outlive the link; the caller must call etcd_link_close in
 * any case. */
enum seqb_status etcd_link_open(struct etcd_link *link,
                                const struct seqb_backend_options *options,
                                struct seqb_error *err);

/* Begins a call that must end within `budget_ms`. */
void etcd_link_begin(struct etcd_link *link, int32_t budget_ms);

bool etcd_link_is_late(const struct etcd_link *link);

/*
 * Calls the method with the message link->body. The answer comes from this
 * cluster; etcd_answer_free frees it. SEQB_UNREACHABLE: no endpoint answered,
 * nothing was changed. SEQB_UNCERTAIN, only for a write: it may have been
 * carried out, or may still be. SEQB_REFUSED: the server refused it, nothing
 * was changed. SEQB_NO_MEMORY, SEQB_PROTOCOL.
 */
enum seqb_status etcd_link_ask(struct etcd_link *link, enum etcd_kind kind,
                               const struct etcd_method *method,
                               ProtobufCMessage **out, struct seqb_error *err);

/* NULL is allowed. */
void etcd_answer_free(ProtobufCMessage *answer);

/* Appends a message to link->body: protobuf's encoding of two messages, one
 * after the other, is that of both merged, with the elements of their repeated
 * fields one after the other. */
void etcd_link_add(struct etcd_link *link, const ProtobufCMessage *message);

/* Answers the status of an invalid answer: SEQB_PROTOCOL, or SEQB_UNCERTAIN for
 * a write, which may have been carried out. */
enum seqb_status etcd_link_distrust(const struct etcd_link *link,
                                    enum etcd_kind kind, const char *what,
                                    struct seqb_error *err);

void etcd_link_close(struct etcd_link *link);
