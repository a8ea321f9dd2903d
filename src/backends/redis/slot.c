/* SPDX-License-Identifier: Apache-2.0 */
/* See slot.h. */
#include "backends/redis/slot.h"

#include <stdint.h>
#include <string.h>

#include "platform/text.h"

/* CRC16-CCITT (XMODEM): polynomial 0x1021, begins with 0, not reflected. */
static uint16_t crc16(const char *bytes, size_t size)
{
    uint16_t crc = 0;

    for (size_t i = 0; i < size; i++) {
        crc ^= (uint16_t)((unsigned char)bytes[i] << 8);
        for (int bit = 0; bit < 8; bit++)
            crc = (uint16_t)((crc & 0x8000) != 0 ? (crc << 1) ^ 0x1021
                                                 : crc << 1);
    }
    return crc;
}

unsigned slot_of_key(const char *key)
{
    const char *open = strchr(key, '{');
    const char *close = open != NULL ? strchr(open, '}') : NULL;

    if (close == NULL || close == open + 1)
        return crc16(key, strlen(key)) % REDIS_SLOTS;
    return crc16(open + 1, (size_t)(close - open - 1)) % REDIS_SLOTS;
}

static bool slot_parse(const char *text, size_t length, unsigned *out)
{
    int64_t slot;

    if (!text_to_int64(text, length, &slot) || slot < 0 || slot >= REDIS_SLOTS)
        return false;
    *out = (unsigned)slot;
    return true;
}

bool redirection_parse(const char *error, struct redirection *out)
{
    const bool is_moved = strncmp(error, "MOVED ", 6) == 0;
    size_t length;

    out->is_ask = strncmp(error, "ASK ", 4) == 0;
    if (!is_moved && !out->is_ask)
        return false;
    error += is_moved ? 6 : 4;
    length = strcspn(error, " ");
    if (!slot_parse(error, length, &out->slot) || error[length] != ' ')
        return false;
    error += length + 1;
    if (error[0] == ':' && error[1] != ':') { /* the server does not know its
                                                 own name */
        out->to.host[0] = '\0';
        return port_parse(error + 1, &out->to.port);
    }
    return address_parse(error, &out->to);
}
