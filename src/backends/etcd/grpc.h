/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection to a gRPC server, by HTTP/2 (libnghttp2), for one unary call at
 * a time, each with a time limit. It knows whether a call that failed may have
 * reached the server. gRPC over HTTP/2 is described in
 * https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <nghttp2/nghttp2.h>

#include "backends/etcd/buffer.h"
#include "net/net.h"

enum etcd_outcome {
    ETCD_ANSWERED, /* the connection's `code` and the following are set */
    ETCD_NOT_SENT, /* the server has not read the call */
    ETCD_LOST,     /* it may have been carried out */
    ETCD_INVALID,  /* as ETCD_NOT_SENT: a file of TLS is wrong */
    ETCD_NO_MEMORY /* as ETCD_NOT_SENT */
};

#define ETCD_WORDS_SIZE 160

/* gRPC's status codes are 0, which is success, to 16. */
#define ETCD_GRPC_NO_CODE (-1)

struct etcd_call {
    const char *path;      /* "/SERVICE/METHOD" */
    const char *authority; /* "host:port" */
    const char *token;     /* sent as "token"; "": none */
    const struct etcd_buffer *request;
    int32_t budget_ms;
    uint64_t connection; /* the only one that may carry it; 0: any */
};

struct etcd_grpc {
    struct stream stream;
    nghttp2_session *session; /* NULL: not connected */
    const struct stream_target *target;
    uint64_t connections; /* made so far; the last one is the current one */
    bool has_heard;       /* the server has sent a byte since it connected */
    struct etcd_buffer frames; /* to be sent */
    size_t frames_sent;        /* bytes of them */

    /* The call. */
    const struct etcd_buffer *request;
    size_t request_sent; /* with its prefix */
    int32_t stream_id;
    bool is_sent; /* a byte was written since the call began */
    bool has_ended;
    uint32_t ended_why; /* HTTP/2's error code */
    int http_status;
    struct etcd_buffer answer; /* with its prefix */

    /* Its result. */
    int code;                    /* gRPC's, or ETCD_GRPC_NO_CODE */
    char words[ETCD_WORDS_SIZE]; /* the server's message, or why there was no
                                    answer */
    const uint8_t *message;      /* NULL if it was malformed */
    size_t length;
};

/* libnghttp2 and its version. Static. */
const char *etcd_grpc_library(void);

/*
 * Makes a call. It connects first, if it is not connected to `target` yet,
 * which must stay there while it is. A call of one connection does not connect:
 * if that one is lost, the call is not sent. The answer is valid until the next
 * call. After any other outcome the connection is closed. The struct begins
 * zeroed.
 */
enum etcd_outcome etcd_grpc_call(struct etcd_grpc *grpc,
                                 const struct stream_target *target,
                                 const struct etcd_call *call);

/* Overwrites what was sent and received, which may hold a password. The answer
 * is gone. If a part of the call was not sent yet, the connection is closed. */
void etcd_grpc_wipe(struct etcd_grpc *grpc);

/* Sends nothing to the server. */
void etcd_grpc_close(struct etcd_grpc *grpc);
