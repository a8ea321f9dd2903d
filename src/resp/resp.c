/* SPDX-License-Identifier: Apache-2.0 */
/* See resp.h. */
#include "resp/resp.h"

#include <stdlib.h>
#include <string.h>

#include "platform/error.h"
#include "platform/text.h"

#define PIECE 16384 /* bytes of one read: a TLS record */

enum seqb_status resp_open(struct resp *resp,
                           const struct stream_target *target,
                           int32_t budget_ms, struct resp_bounds most,
                           struct seqb_error *err)
{
    *resp = (struct resp){.stream = {.fd = -1},
                          .reader = redisReaderCreate(),
                          .bytes_most = most.bytes};
    if (resp->reader == NULL)
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    reader_bound(&resp->bound, resp->reader, most.elements);
    return stream_open(&resp->stream, target, budget_ms, err);
}

/* A command may hold a password. */
static void out_free(struct resp *resp)
{
    if (resp->out != NULL)
        explicit_bzero(resp->out, resp->out_size);
    free(resp->out);
}

/* Makes room for `more` bytes. */
static bool out_reserve(struct resp *resp, size_t more)
{
    const size_t wanted = resp->out_length + more;
    size_t size = resp->out_size > 0 ? resp->out_size : 1024;
    char *out;

    if (wanted <= resp->out_size)
        return true;
    while (size < wanted)
        size *= 2;
    out = malloc(size);
    if (out == NULL)
        return false;
    if (resp->out_length > 0)
        memcpy(out, resp->out, resp->out_length);
    out_free(resp);
    resp->out = out;
    resp->out_size = size;
    return true;
}

bool resp_append(struct resp *resp, const char *const *argv, int argc)
{
    /* hiredis reads the words only; its prototype lacks the const */
    const char **words = (const char **)argv;
    char *text = NULL;
    const int length = (int)redisFormatCommandArgv(&text, argc, words, NULL);
    const bool fits = length >= 0 && out_reserve(resp, (size_t)length);

    if (fits) {
        memcpy(resp->out + resp->out_length, text, (size_t)length);
        resp->out_length += (size_t)length;
    }
    if (length >= 0) {
        explicit_bzero(text, (size_t)length);
        redisFreeCommand(text);
    }
    resp->lacks_memory = !fits;
    return fits;
}

bool resp_flush(struct resp *resp)
{
    const size_t length = resp->out_length;
    const bool is_sent = stream_send(&resp->stream, resp->out, length);

    resp->out_length = 0;
    if (length > 0)
        explicit_bzero(resp->out, length);
    return is_sent;
}

/* The reader keeps what it could not parse yet: a text that is not whole. */
static bool has_long_text(const struct resp *resp)
{
    return resp->reader->len - resp->reader->pos > RESP_TEXT_MAX + PIECE;
}

static bool is_too_long(const struct resp *resp)
{
    return resp->bytes_read > resp->bytes_most;
}

/* Reads more bytes for the parser. */
static bool feed(struct resp *resp)
{
    char piece[PIECE];
    ssize_t got;

    if (is_too_long(resp) || has_long_text(resp))
        return false;
    do
        got = stream_read(&resp->stream, piece, sizeof piece);
    while (got == 0 && stream_wait(&resp->stream, true, false));
    if (got > 0)
        resp->bytes_read += (size_t)got;
    return got > 0 &&
           redisReaderFeed(resp->reader, piece, (size_t)got) == REDIS_OK;
}

redisReply *resp_read(struct resp *resp)
{
    void *reply = NULL;

    resp->bytes_read = 0;
    do {
        if (redisReaderGetReply(resp->reader, &reply) != REDIS_OK)
            return NULL;
    } while (reply == NULL && feed(resp));
    return reply;
}

enum resp_failure resp_why(const struct resp *resp,
                           char out[static RESP_WHY_SIZE])
{
    const redisReader *reader = resp->reader;

    if (reader->err == REDIS_ERR_OOM && resp->bound.has_refused) {
        (void)text_format(out, RESP_WHY_SIZE,
                          "an answer is an array of more than %lld",
                          (long long)resp->bound.most);
        return RESP_GARBLED;
    }
    if (is_too_long(resp)) {
        (void)text_format(out, RESP_WHY_SIZE,
                          "an answer is longer than %zu MiB",
                          resp->bytes_most >> 20);
        return RESP_GARBLED;
    }
    if (has_long_text(resp)) {
        (void)text_format(out, RESP_WHY_SIZE,
                          "a text of an answer is longer than %d MiB",
                          RESP_TEXT_MAX >> 20);
        return RESP_GARBLED;
    }
    if (resp->lacks_memory || reader->err == REDIS_ERR_OOM) {
        (void)text_copy(out, RESP_WHY_SIZE, "out of memory");
        return RESP_NO_MEMORY;
    }
    if (reader->err != 0) {
        (void)text_copy(out, RESP_WHY_SIZE, reader->errstr);
        return RESP_GARBLED;
    }
    stream_why(&resp->stream, out);
    return RESP_LOST;
}

void resp_close(struct resp *resp)
{
    if (resp->reader == NULL)
        return;
    stream_close(&resp->stream);
    redisReaderFree(resp->reader);
    out_free(resp);
    *resp = (struct resp){.stream = {.fd = -1}};
}
