/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what a client of TLS sends before it is encrypted, in pieces of
 * any length. The whole bytes are read once more in a plain way, which must
 * agree. The first byte says whether TLS 1.2 is agreed on, and the second one
 * how long a piece is.
 */
#include "daemon/transport/transport.h"
#include "fuzz/fuzz.h"

#define INPUT_MAX 65536

#define CHANGE_CIPHER 20
#define HANDSHAKE     22
#define CLIENT_HELLO  1

/* Whether no ClientHello announces too much. */
static bool messages_are_permitted(const uint8_t *at, size_t left)
{
    while (left >= TLS_MESSAGE_HEAD) {
        const size_t body = (size_t)at[1] << 16 | (size_t)at[2] << 8 | at[3];

        if (at[0] == CLIENT_HELLO && body > TLS_HELLO_MAX)
            return false;
        if (body >= left - TLS_MESSAGE_HEAD)
            return true;
        at += TLS_MESSAGE_HEAD + body;
        left -= TLS_MESSAGE_HEAD + body;
    }
    return true;
}

/* Returns whether the bytes are permitted; `is_within`: the last record is not
 * complete. */
static bool records_are_permitted(const uint8_t *at, size_t left, bool is_1_2,
                                  bool *is_within)
{
    static uint8_t messages[INPUT_MAX];
    size_t count = 0;
    bool is_encrypted = false;

    *is_within = false;
    while (left > 0 && !*is_within) {
        const size_t head = left < TLS_RECORD_HEAD ? left : TLS_RECORD_HEAD;
        size_t body = 0;

        *is_within = head < TLS_RECORD_HEAD;
        if (!*is_within)
            body = (size_t)at[3] << 8 | at[4];
        if (body > left - head) {
            body = left - head;
            *is_within = true;
        }
        is_encrypted = is_encrypted || (head == TLS_RECORD_HEAD &&
                                        at[0] == CHANGE_CIPHER && is_1_2);
        if (at[0] == HANDSHAKE && !is_encrypted) {
            memcpy(messages + count, at + head, body);
            count += body;
        }
        at += head + body;
        left -= head + body;
    }
    return messages_are_permitted(messages, count);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct tls_framing framing = {.record_left = 0};
    bool is_permitted = true;
    bool is_within = false;

    if (size < 2 || size > INPUT_MAX)
        return 0;
    for (size_t at = 2; at < size && is_permitted;) {
        const size_t piece = bytes[1] + 1U;
        const size_t length = piece < size - at ? piece : size - at;

        is_permitted =
            tls_framing_add(&framing, bytes + at, length, (bytes[0] & 1) != 0);
        at += length;
    }
    require(records_are_permitted(bytes + 2, size - 2, (bytes[0] & 1) != 0,
                                  &is_within) == is_permitted);
    require(!is_permitted || tls_framing_is_within(&framing) == is_within);
    return 0;
}
