/* SPDX-License-Identifier: Apache-2.0 */
/* Walks through the connections in turns of the loop, so that whoever lists
 * them often does not hold up the others. */
#include "daemon/commands/commands.h"
#include "daemon/daemon.h"
#include "daemon/session.h"

/* Approximate upper bound, in bytes, of a row. */
#define ROW_SIZE 512

/* The oldest of the newest CLIENTS_LISTED_MAX connections. */
static const struct session *newest_begin(const struct daemon *daemon)
{
    const struct session *session = TAILQ_LAST(&daemon->sessions, session_list);

    for (int i = 1; session != NULL && i < CLIENTS_LISTED_MAX; i++)
        session = TAILQ_PREV(session, session_list, entry);
    return session;
}

bool client_walk_begin(struct session *session, bool is_whole, int64_t rows)
{
    struct daemon *daemon = session->daemon;
    const bool is_cut = !is_whole && daemon->session_count > CLIENTS_LISTED_MAX;
    const int64_t most =
        rows < daemon->session_count ? rows : daemon->session_count;
    struct listing *listing = NULL;

    if (!session_may_hold(session, ROW_SIZE * (size_t)most, true) ||
        !listing_begin(session, 0, false))
        return false;
    listing = session->listing;
    listing->text_size = ROW_SIZE * (size_t)most;
    listing->total = is_cut ? daemon->session_count : 0;
    listing->last_id = daemon->connections_received;
    listing->next =
        is_cut ? newest_begin(daemon) : TAILQ_FIRST(&daemon->sessions);
    listing->is_walk = true;
    LIST_INSERT_HEAD(&daemon->walks, listing, walk);
    session_account(session, 0);
    return true;
}

enum command_outcome client_walk_run(struct session *session, client_row *row,
                                     const void *context)
{
    struct listing *listing = session->listing;

    while (listing->next != NULL && listing->next->id <= listing->last_id) {
        const struct session *client = listing->next;

        if (session->budget <= 0)
            return COMMAND_YIELDS;
        listing->next = TAILQ_NEXT(client, entry);
        session->budget--;
        if (row(session, client, context))
            listing_row(session);
    }
    if (listing->text.is_broken)
        session->out.is_broken = true;
    return COMMAND_DONE;
}

void client_walks_leave(struct daemon *daemon, const struct session *session)
{
    struct listing *listing = NULL;

    LIST_FOREACH(listing, &daemon->walks, walk)
        if (listing->next == session)
            listing->next = TAILQ_NEXT(session, entry);
}
