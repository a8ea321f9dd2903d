/* SPDX-License-Identifier: Apache-2.0 */
/* Two waitlists of pieces, each with the time from which it may go on. */
#include "support/proxy_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define PIECE_SIZE 16384
#define PIECES_MAX 32 /* on their way; then the sender waits */

struct piece {
    struct piece *next;
    int64_t due_us;
    size_t size;
    size_t sent;
    bool is_cut; /* the connection ends after it */
    char bytes[PIECE_SIZE];
};

/* One way of two. */
struct waitlist {
    int from;
    int to;
    struct piece *first;
    struct piece **last; /* where the next one is hung */
    int count;
    bool is_blocked; /* the receiver takes no more for now */
    bool is_ended;   /* the sender is done */
};

struct wire {
    int client;
    int server; /* -1: what comes is swallowed */
    struct waitlist requests;
    struct waitlist answers;
};

static void lane_init(struct waitlist *waitlist, int from, int to)
{
    *waitlist = (struct waitlist){.from = from, .to = to};
    waitlist->last = &waitlist->first;
}

static void lane_pop(struct waitlist *waitlist)
{
    struct piece *piece = waitlist->first;

    waitlist->first = piece->next;
    if (waitlist->first == NULL)
        waitlist->last = &waitlist->first;
    waitlist->count--;
    free(piece);
}

static void lane_fini(struct waitlist *waitlist)
{
    while (waitlist->first != NULL)
        lane_pop(waitlist);
}

static void lane_push(struct waitlist *waitlist, struct piece *piece)
{
    piece->next = NULL;
    *waitlist->last = piece;
    waitlist->last = &piece->next;
    waitlist->count++;
}

static struct piece *piece_new(void)
{
    struct piece *piece = malloc(sizeof *piece);

    if (piece == NULL)
        abort();
    piece->sent = 0;
    piece->is_cut = false;
    return piece;
}

/* Below `n`, xorshift; a seed of 0 would stay 0. */
static uint64_t random_below(uint64_t *random, uint64_t n)
{
    uint64_t x = *random != 0 ? *random : 1;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    *random = x;
    return x % n;
}

static bool is_passing_error(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ||
           errno == ENOTCONN; /* it is still connecting */
}

/* Takes one piece from the sender if there is any; false if it failed. */
static bool lane_read(struct waitlist *waitlist, int64_t due_us,
                      struct piece **out)
{
    struct piece *piece;
    ssize_t length;

    *out = NULL;
    if (waitlist->is_ended || waitlist->count >= PIECES_MAX)
        return true;
    piece = piece_new();
    length = recv(waitlist->from, piece->bytes, sizeof piece->bytes, 0);
    if (length > 0) {
        piece->size = (size_t)length;
        piece->due_us = due_us;
        lane_push(waitlist, piece);
        *out = piece;
        return true;
    }
    free(piece);
    waitlist->is_ended = length == 0;
    return length == 0 || is_passing_error();
}

/* Sends what is due; `drip_us` 0: all at once, else a byte each so many. */
static enum wire_state lane_write(struct waitlist *waitlist, int64_t drip_us,
                                  int64_t now_us)
{
    waitlist->is_blocked = false;
    while (waitlist->first != NULL && waitlist->first->due_us <= now_us) {
        struct piece *piece = waitlist->first;
        const size_t rest = piece->size - piece->sent;
        const ssize_t length =
            send(waitlist->to, piece->bytes + piece->sent,
                 drip_us > 0 && rest > 0 ? 1 : rest, MSG_NOSIGNAL);

        if (length < 0) {
            waitlist->is_blocked = is_passing_error();
            return waitlist->is_blocked ? WIRE_OPEN : WIRE_CUT;
        }
        piece->sent += (size_t)length;
        piece->due_us = now_us + drip_us;
        if (piece->sent < piece->size)
            continue;
        if (piece->is_cut)
            return WIRE_CUT;
        lane_pop(waitlist);
        if (waitlist->first != NULL && drip_us > 0)
            waitlist->first->due_us = now_us + drip_us;
    }
    return waitlist->is_ended && waitlist->first == NULL ? WIRE_OVER
                                                         : WIRE_OPEN;
}

struct wire *wire_new(int client, int server)
{
    struct wire *wire = calloc(1, sizeof *wire);

    if (wire == NULL)
        abort();
    wire->client = client;
    wire->server = server;
    lane_init(&wire->requests, client, server);
    lane_init(&wire->answers, server, client);
    return wire;
}

void wire_close(struct wire *wire)
{
    close(wire->client);
    if (wire->server >= 0)
        close(wire->server);
    lane_fini(&wire->requests);
    lane_fini(&wire->answers);
    free(wire);
}

void wire_reset(struct wire *wire)
{
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};

    (void)setsockopt(wire->client, SOL_SOCKET, SO_LINGER, &at_once,
                     sizeof at_once);
    wire_close(wire);
}

bool wire_is_swallowed(const struct wire *wire)
{
    return wire->server < 0;
}

static short lane_events(const struct waitlist *in, const struct waitlist *out)
{
    const bool has_room = !in->is_ended && in->count < PIECES_MAX;

    return (short)((has_room ? POLLIN : 0) | (out->is_blocked ? POLLOUT : 0));
}

static int64_t lane_due(const struct waitlist *waitlist)
{
    return waitlist->first != NULL && !waitlist->is_blocked
               ? waitlist->first->due_us
               : INT64_MAX;
}

int64_t wire_watch(const struct wire *wire, const struct wire_fault *fault,
                   struct pollfd out[2])
{
    const int64_t requests_us = lane_due(&wire->requests);
    const int64_t answers_us = lane_due(&wire->answers);

    out[0] = (struct pollfd){.fd = wire->client, .events = POLLIN};
    out[1] = (struct pollfd){.fd = -1};
    if (wire_is_swallowed(wire))
        return INT64_MAX;
    if (fault->mode == PROXY_BLACK_HOLE) {
        out[0].fd = -1; /* or an end that closed would be told for ever */
        return INT64_MAX;
    }
    out[0].events = lane_events(&wire->requests, &wire->answers);
    out[1].fd = wire->server;
    out[1].events = lane_events(&wire->answers, &wire->requests);
    /* So is an end that hung up, while what it said is still to be sent. */
    if (out[0].events == 0)
        out[0].fd = -1;
    if (out[1].events == 0)
        out[1].fd = -1;
    return requests_us < answers_us ? requests_us : answers_us;
}

static enum wire_state wire_swallow(struct wire *wire)
{
    char bytes[PIECE_SIZE];
    const ssize_t length = recv(wire->client, bytes, sizeof bytes, 0);

    return length > 0 || (length < 0 && is_passing_error()) ? WIRE_OPEN
                                                            : WIRE_OVER;
}

/* An answer that came: decides whether it is cut, and where. */
static void piece_doom(struct piece *piece, int32_t chance, uint64_t *random)
{
    if (random_below(random, (uint64_t)(chance > 1 ? chance : 1)) != 0)
        return;
    piece->size = random_below(random, piece->size);
    piece->is_cut = true;
}

enum wire_state wire_carry(struct wire *wire, const struct wire_fault *fault,
                           uint64_t *random, int64_t now_us)
{
    const bool drips = fault->mode == PROXY_DRIP;
    const int64_t amount_us =
        (int64_t)(fault->amount > 0 ? fault->amount : 1) * 1000;
    const int64_t late_us = fault->mode == PROXY_DELAY ? amount_us : 0;
    struct piece *piece;
    enum wire_state state;

    if (wire_is_swallowed(wire))
        return wire_swallow(wire);
    if (fault->mode == PROXY_BLACK_HOLE)
        return WIRE_OPEN;
    if (!lane_read(&wire->requests, now_us, &piece) ||
        !lane_read(&wire->answers, now_us + late_us, &piece))
        return WIRE_CUT;
    if (piece != NULL && fault->mode == PROXY_CUT)
        piece_doom(piece, fault->amount, random);
    state = lane_write(&wire->requests, 0, now_us);
    if (state != WIRE_OPEN)
        return state;
    return lane_write(&wire->answers, drips ? amount_us : 0, now_us);
}
