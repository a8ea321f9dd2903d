/* SPDX-License-Identifier: Apache-2.0 */
/* Unary calls of gRPC over a stream. */
#include "backends/etcd/grpc.h"

#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/text.h"

/* Before a message: whether it is compressed, and its length. */
#define PREFIX_SIZE 5

#define HEADERS_MAX 8
#define TIMEOUT_MAX 99999999 /* gRPC's eight digits */

const char *etcd_grpc_library(void)
{
    return "nghttp2 " NGHTTP2_VERSION;
}

/* --- what nghttp2 calls --- */

static uint8_t prefix_byte(const struct etcd_buffer *request, size_t i)
{
    return i == 0 ? 0 : (uint8_t)(request->length >> (8 * (4 - i)));
}

/* The next bytes of the request. */
// NOLINTNEXTLINE(readability-function-size): nghttp2 sets the parameters.
static ssize_t request_read(nghttp2_session *session, int32_t stream_id,
                            uint8_t *to, size_t size, uint32_t *flags,
                            nghttp2_data_source *source, void *context)
{
    struct etcd_grpc *grpc = context;
    const struct etcd_buffer *request = grpc->request;
    size_t count = 0;
    size_t rest;

    (void)session;
    (void)stream_id;
    (void)source;
    while (count < size && grpc->request_sent < PREFIX_SIZE)
        to[count++] = prefix_byte(request, grpc->request_sent++);
    rest = PREFIX_SIZE + request->length - grpc->request_sent;
    if (rest > size - count)
        rest = size - count;
    if (rest > 0)
        memcpy(to + count, request->data + grpc->request_sent - PREFIX_SIZE,
               rest);
    grpc->request_sent += rest;
    if (grpc->request_sent == PREFIX_SIZE + request->length)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)(count + rest);
}

/* A code of 0 to 999; -1: it is none. */
static int small_number(const char *text, size_t length)
{
    int64_t number;

    return length <= 3 && text_to_int64(text, length, &number) && number >= 0
               ? (int)number
               : -1;
}

// NOLINTNEXTLINE(readability-function-size): nghttp2 sets the parameters.
static int header_take(nghttp2_session *session, const nghttp2_frame *frame,
                       const uint8_t *name, size_t name_length,
                       const uint8_t *value, size_t length, uint8_t flags,
                       void *context)
{
    struct etcd_grpc *grpc = context;
    const char *header = (const char *)name;
    const char *text = (const char *)value;

    (void)session;
    (void)name_length;
    (void)flags;
    if (frame->hd.stream_id != grpc->stream_id)
        return 0;
    if (strcmp(header, ":status") == 0)
        grpc->http_status = small_number(text, length);
    else if (strcmp(header, "grpc-status") == 0)
        grpc->code = small_number(text, length);
    else if (strcmp(header, "grpc-message") == 0)
        (void)text_format(grpc->words, sizeof grpc->words, "%.120s", text);
    return 0;
}

static int data_take(nghttp2_session *session, uint8_t flags, int32_t stream_id,
                     const uint8_t *data, size_t length, void *context)
{
    struct etcd_grpc *grpc = context;

    (void)session;
    (void)flags;
    if (stream_id == grpc->stream_id)
        etcd_buffer_add(&grpc->answer, data, length);
    return grpc->answer.has_failed ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

static int stream_end_take(nghttp2_session *session, int32_t stream_id,
                           uint32_t why, void *context)
{
    struct etcd_grpc *grpc = context;

    (void)session;
    if (stream_id == grpc->stream_id) {
        grpc->has_ended = true;
        grpc->ended_why = why;
    }
    return 0;
}

/* --- connecting --- */

static bool has_frames(const struct etcd_grpc *grpc)
{
    return grpc->frames_sent < grpc->frames.length;
}

static void frames_drop(struct etcd_grpc *grpc)
{
    etcd_buffer_clear(&grpc->frames);
    grpc->frames_sent = 0;
}

static bool session_make(struct etcd_grpc *grpc)
{
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0}};
    nghttp2_session_callbacks *callbacks;

    if (nghttp2_session_callbacks_new(&callbacks) != 0)
        return false;
    nghttp2_session_callbacks_set_on_header_callback(callbacks, header_take);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks,
                                                              data_take);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks,
                                                           stream_end_take);
    if (nghttp2_session_client_new(&grpc->session, callbacks, grpc) != 0)
        grpc->session = NULL;
    nghttp2_session_callbacks_del(callbacks);
    return grpc->session != NULL &&
           nghttp2_submit_settings(grpc->session, NGHTTP2_FLAG_NONE, settings,
                                   1) == 0;
}

static enum etcd_outcome connect_to(struct etcd_grpc *grpc,
                                    const struct stream_target *target,
                                    int32_t budget_ms)
{
    struct seqb_error err;
    const enum seqb_status status =
        stream_open(&grpc->stream, target, budget_ms, &err);

    grpc->target = target;
    grpc->connections++;
    grpc->has_heard = false;
    grpc->words[0] = '\0';
    if (status == SEQB_OK && session_make(grpc))
        return ETCD_ANSWERED;
    if (status != SEQB_OK)
        (void)text_format(grpc->words, sizeof grpc->words, "%.150s", err.text);
    if (status == SEQB_INVALID)
        return ETCD_INVALID;
    return status == SEQB_OK || status == SEQB_NO_MEMORY ? ETCD_NO_MEMORY
                                                         : ETCD_NOT_SENT;
}

static void disconnect(struct etcd_grpc *grpc)
{
    if (grpc->target == NULL)
        return;
    nghttp2_session_del(grpc->session);
    grpc->session = NULL;
    frames_drop(grpc);
    grpc->target = NULL;
    stream_close(&grpc->stream);
}

/* What is ours: the request is its caller's. nghttp2 copies it into the frames
 * that it makes, and OpenSSL into its records. They keep these buffers, neither
 * overwrites them, and no function of theirs does. */
void etcd_grpc_wipe(struct etcd_grpc *grpc)
{
    if (has_frames(grpc))
        disconnect(grpc);
    etcd_buffer_wipe(&grpc->frames);
    etcd_buffer_wipe(&grpc->answer);
}

void etcd_grpc_close(struct etcd_grpc *grpc)
{
    disconnect(grpc);
    etcd_buffer_wipe(&grpc->frames); /* the token is in each call */
    etcd_buffer_fini(&grpc->frames);
    etcd_buffer_fini(&grpc->answer);
}

/* --- frames --- */

static bool session_fail(struct etcd_grpc *grpc, ssize_t error)
{
    (void)text_format(grpc->words, sizeof grpc->words, "HTTP/2: %s",
                      grpc->answer.has_failed
                          ? "the answer is too long, or out of memory"
                          : nghttp2_strerror((int)error));
    return false;
}

static bool stream_fail(struct etcd_grpc *grpc)
{
    char why[STREAM_WHY_SIZE];

    if (!grpc->has_heard && grpc->stream.has_ended &&
        grpc->stream.ssl == NULL) {
        (void)text_format(grpc->words, sizeof grpc->words,
                          "the server closed the connection at once: does it "
                          "demand TLS?");
        return false;
    }
    stream_why(&grpc->stream, why);
    (void)text_format(grpc->words, sizeof grpc->words, "%.150s", why);
    return false;
}

/* Takes all frames that nghttp2 has, so that they are one write. What waits
 * must not grow or move: OpenSSL is to be given the same bytes again. */
static bool frames_collect(struct etcd_grpc *grpc)
{
    const uint8_t *frame;
    ssize_t size;

    frames_drop(grpc);
    while ((size = nghttp2_session_mem_send(grpc->session, &frame)) > 0)
        etcd_buffer_add(&grpc->frames, frame, (size_t)size);
    if (size == 0 && !grpc->frames.has_failed)
        return true;
    return session_fail(grpc, size < 0 ? size : NGHTTP2_ERR_NOMEM);
}

/* Writes frames as far as possible without waiting. */
static bool frames_send(struct etcd_grpc *grpc)
{
    for (;;) {
        ssize_t count;

        if (!has_frames(grpc) && !frames_collect(grpc))
            return false;
        if (!has_frames(grpc))
            return true;
        count = stream_write(
            &grpc->stream, (const char *)grpc->frames.data + grpc->frames_sent,
            grpc->frames.length - grpc->frames_sent);
        if (count < 0)
            return stream_fail(grpc);
        if (count == 0)
            return true;
        grpc->is_sent = true;
        grpc->frames_sent += (size_t)count;
    }
}

/* nghttp2 gives up a connection whose frames make no sense, once it has told
 * the server. */
static bool is_given_up(struct etcd_grpc *grpc)
{
    if (nghttp2_session_want_read(grpc->session) ||
        nghttp2_session_want_write(grpc->session) || has_frames(grpc))
        return false;
    (void)text_format(grpc->words, sizeof grpc->words,
                      "the server does not speak HTTP/2, or not by its rules");
    return true;
}

/* The connection is lost, and with it what was to be sent. */
static bool receive_fail(struct etcd_grpc *grpc)
{
    const uint8_t *frame;

    while (nghttp2_session_mem_send(grpc->session, &frame) > 0)
        continue;
    frames_drop(grpc);
    return is_given_up(grpc) ? false : stream_fail(grpc);
}

/* Reads frames as far as possible without waiting, up to the call's end. The
 * server may send without end what is no answer. */
static bool frames_receive(struct etcd_grpc *grpc)
{
    while (!grpc->has_ended) {
        uint8_t frames[16384];
        const ssize_t count =
            stream_is_late(&grpc->stream)
                ? -1
                : stream_read(&grpc->stream, (char *)frames, sizeof frames);
        ssize_t taken;

        if (count < 0)
            return receive_fail(grpc);
        if (count == 0)
            return true;
        grpc->has_heard = true;
        taken = nghttp2_session_mem_recv(grpc->session, frames, (size_t)count);
        if (taken < 0)
            return session_fail(grpc, taken);
    }
    return true;
}

/* Sends the call, and receives its answer. */
static bool exchange(struct etcd_grpc *grpc)
{
    for (;;) {
        const bool is_open = frames_send(grpc);

        /* A server that closes the connection may have said why. */
        if (!frames_receive(grpc))
            return false;
        if (grpc->has_ended)
            return true;
        if (!is_open || is_given_up(grpc))
            return false;
        if (nghttp2_session_want_write(grpc->session) && !has_frames(grpc))
            continue;
        if (!stream_wait(&grpc->stream, true, has_frames(grpc)))
            return stream_fail(grpc);
    }
}

/* --- calls --- */

static nghttp2_nv header_of(const char *name, const char *value)
{
    return (nghttp2_nv){
        .name = (uint8_t *)(uintptr_t)name,
        .value = (uint8_t *)(uintptr_t)value,
        .namelen = strlen(name),
        .valuelen = strlen(value),
    };
}

static int64_t time_left(const struct etcd_grpc *grpc)
{
    return grpc->stream.deadline_ms - clock_now_ms();
}

/* nghttp2 copies the headers. */
static bool call_submit(struct etcd_grpc *grpc, const struct etcd_call *call)
{
    const nghttp2_data_provider request = {.read_callback = request_read};
    nghttp2_nv headers[HEADERS_MAX];
    char timeout[16];
    size_t n = 0;

    (void)text_format(timeout, sizeof timeout, "%dm",
                      (int)min_of(max_of(time_left(grpc), 1), TIMEOUT_MAX));
    headers[n++] = header_of(":method", "POST");
    headers[n++] =
        header_of(":scheme", grpc->stream.ssl != NULL ? "https" : "http");
    headers[n++] = header_of(":path", call->path);
    headers[n++] = header_of(":authority", call->authority);
    headers[n++] = header_of("te", "trailers");
    headers[n++] = header_of("grpc-timeout", timeout);
    headers[n++] = header_of("content-type", "application/grpc");
    if (call->token[0] != '\0') {
        headers[n] = header_of("token", call->token);
        headers[n++].flags = NGHTTP2_NV_FLAG_NO_INDEX;
    }
    grpc->stream_id =
        nghttp2_submit_request(grpc->session, NULL, headers, n, &request, NULL);
    return grpc->stream_id > 0;
}

static void call_begin(struct etcd_grpc *grpc, const struct etcd_call *call)
{
    grpc->request = call->request;
    grpc->request_sent = 0;
    grpc->stream_id = 0;
    grpc->is_sent = false;
    grpc->has_ended = false;
    grpc->ended_why = NGHTTP2_NO_ERROR;
    grpc->http_status = 0;
    grpc->code = ETCD_GRPC_NO_CODE;
    grpc->words[0] = '\0';
    grpc->message = NULL;
    etcd_buffer_clear(&grpc->answer);
}

/* Whether the connection that is open can carry a further call: the server may
 * have closed it, or told it to end. */
static bool is_usable(struct etcd_grpc *grpc,
                      const struct stream_target *target, int32_t budget_ms)
{
    if (grpc->target != target)
        return false;
    stream_begin(&grpc->stream, budget_ms);
    return frames_receive(grpc) &&
           nghttp2_session_check_request_allowed(grpc->session);
}

/* Connects, unless the connection that is open can carry the call, or the call
 * may not be made by another one. Both have one deadline: what the old
 * connection still sent took time, too. */
static enum etcd_outcome connection_ensure(struct etcd_grpc *grpc,
                                           const struct stream_target *target,
                                           const struct etcd_call *call)
{
    const bool was_open = grpc->target == target;
    const bool is_open = is_usable(grpc, target, call->budget_ms);
    int64_t left = call->budget_ms;

    if (call->connection != 0 &&
        (!is_open || call->connection != grpc->connections)) {
        (void)text_format(grpc->words, sizeof grpc->words,
                          "the connection was lost: open it again");
        return ETCD_NOT_SENT;
    }
    if (is_open)
        return ETCD_ANSWERED;
    if (was_open)
        left = time_left(grpc);
    disconnect(grpc);
    if (was_open && left <= 0) {
        (void)text_format(grpc->words, sizeof grpc->words,
                          "no answer within %d ms", (int)call->budget_ms);
        return ETCD_NOT_SENT;
    }
    return connect_to(grpc, target, (int32_t)left);
}

/* Finds the message in the answer. */
static void message_find(struct etcd_grpc *grpc)
{
    const uint8_t *data = grpc->answer.data;
    size_t length = 0;

    if (grpc->answer.length < PREFIX_SIZE || data[0] != 0)
        return;
    for (size_t i = 1; i < PREFIX_SIZE; i++)
        length = length << 8 | data[i];
    if (length != grpc->answer.length - PREFIX_SIZE)
        return;
    grpc->message = data + PREFIX_SIZE;
    grpc->length = length;
}

/* A stream that the server refused, also by its GOAWAY, was not processed:
 * RFC 9113, 8.7. One that was answered before was. */
static enum etcd_outcome end_evaluate(struct etcd_grpc *grpc)
{
    if (grpc->code >= 0) {
        message_find(grpc);
        return ETCD_ANSWERED;
    }
    if (grpc->http_status != 0 && grpc->http_status != 200) {
        (void)text_format(grpc->words, sizeof grpc->words, "HTTP status %d",
                          grpc->http_status);
        return ETCD_ANSWERED;
    }
    (void)text_format(grpc->words, sizeof grpc->words,
                      "HTTP/2: the call ended without a status: %s",
                      nghttp2_http2_strerror(grpc->ended_why));
    return grpc->ended_why == NGHTTP2_REFUSED_STREAM && grpc->http_status == 0
               ? ETCD_NOT_SENT
               : ETCD_LOST;
}

static enum etcd_outcome call_run(struct etcd_grpc *grpc,
                                  const struct stream_target *target,
                                  const struct etcd_call *call)
{
    enum etcd_outcome outcome;

    call_begin(grpc, call);
    outcome = connection_ensure(grpc, target, call);
    if (outcome != ETCD_ANSWERED)
        return outcome;
    if (!call_submit(grpc, call))
        return ETCD_NO_MEMORY;
    if (!exchange(grpc))
        return grpc->is_sent ? ETCD_LOST : ETCD_NOT_SENT;
    return end_evaluate(grpc);
}

enum etcd_outcome etcd_grpc_call(struct etcd_grpc *grpc,
                                 const struct stream_target *target,
                                 const struct etcd_call *call)
{
    const enum etcd_outcome outcome = call_run(grpc, target, call);

    grpc->request = NULL;
    if (outcome != ETCD_ANSWERED)
        disconnect(grpc);
    return outcome;
}
