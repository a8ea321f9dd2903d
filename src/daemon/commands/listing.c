/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A long answer in parts, as batch.c does for numbers. Rows are read when they
 * are written, so that none is held in memory, however slowly the client reads.
 */
#include <stdlib.h>

#include "daemon/commands/commands.h"
#include "daemon/session.h"

/* What a row costs of the session's budget: as much as that many numbers. */
#define ROW_COST 64

/* The first turn of a listing is short: all clients whose input has just come
 * have one in the same turn of the loop. Of the later ones, the loop serves a
 * slice of time at once: fairness.h. */
#define FIRST_TURN (4 * ROW_COST)

void listing_free(struct listing *listing)
{
    if (listing == NULL)
        return;
    if (listing->is_walk)
        LIST_REMOVE(listing, walk);
    buffer_fini(&listing->text);
    free(listing);
}

void listing_end(struct session *session)
{
    listing_free(session->listing);
    session->listing = NULL;
}

bool listing_begin(struct session *session, size_t count, bool has_end)
{
    session->listing = calloc(1, sizeof *session->listing);
    if (session->listing == NULL) {
        session->out.is_broken = true;
        return false;
    }
    session->listing->count = count;
    session->listing->has_end = has_end;
    if (session->budget > FIRST_TURN)
        session->budget = FIRST_TURN;
    return true;
}

bool listing_may_go_on(const struct session *session)
{
    return session->budget > 0 && session_has_room(session);
}

void listing_row(struct session *session)
{
    session->listing->at++;
    session->budget -= ROW_COST;
}

enum command_outcome listing_run(struct session *session,
                                 const struct listing_rows *rows)
{
    struct listing *listing = session->listing;

    while (listing->at < listing->count) {
        if (!listing_may_go_on(session))
            return COMMAND_YIELDS;
        rows->write(session, listing->at);
        listing_row(session);
    }
    if (listing->has_end)
        rows->end(session);
    listing_end(session);
    return COMMAND_DONE;
}
