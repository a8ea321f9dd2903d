/* SPDX-License-Identifier: Apache-2.0 */
/* The history of a Galera cluster, and which nodes may use it. */
#include "backends/mysql/galera/galera.h"

#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#include "backends/mysql/galera/node.h"
#include "backends/mysql/server.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

#define DIGEST_SIZE 64
#define SECOND_MS   1000 /* the library's unit of time-outs */

/* The state of a node: what its voucher must have, the cluster's history, and
 * whether the node has the voucher. */
struct voucher {
    char digest[DIGEST_SIZE];
    char history[DIGEST_SIZE]; /* "" if there is none */
    bool is_there;
    bool is_alone; /* there is no row of an earlier voucher */
};

static enum seqb_status voucher_read(struct mysql_link *link,
                                     struct voucher *out,
                                     struct seqb_error *err)
{
    int64_t rows;
    const char *history;
    enum seqb_status status;

    mysql_link_add(link,
                   "SELECT " MYSQL_VOUCHER_SQL
                   ", (SELECT text FROM seqb_claims WHERE name = '%s'), "
                   "(SELECT COUNT(*) FROM seqb_incarnation), "
                   "%s IS NOT NULL",
                   MYSQL_HISTORY, link->sql->run);
    status = mysql_link_run(link, SEQB_UNREACHABLE, err);
    if (status != SEQB_OK)
        return status;
    if (!mysql_link_row(link) || mysql_link_text(link, 0) == NULL ||
        !text_copy(out->digest, sizeof out->digest, mysql_link_text(link, 0)) ||
        !mysql_link_int64(link, 2, &rows))
        return mysql_link_distrust(link, "when its tables were made", err);
    history = mysql_link_text(link, 1);
    if (!text_copy(out->history, sizeof out->history,
                   history != NULL ? history : ""))
        return mysql_link_distrust(link, "its history", err);
    out->is_alone = rows == 0;
    out->is_there = strcmp(mysql_link_text(link, 3), "1") == 0;
    return SEQB_OK;
}

/* The digest is written as the text that was read, so that tables created since
 * then get no valid voucher. */
static enum seqb_status voucher_write(struct mysql_link *link,
                                      const struct voucher *voucher,
                                      struct seqb_error *err)
{
    mysql_link_add(link, "INSERT IGNORE INTO seqb_incarnation (id, nonce) "
                         "VALUES (CONV(SUBSTR(");
    mysql_link_quote(link, voucher->digest);
    mysql_link_add(link, ", 1, 7), 16, 10), ");
    mysql_link_quote(link, voucher->digest);
    mysql_link_add(link, ")");
    return mysql_link_run(link, SEQB_UNREACHABLE, err);
}

/* Begins another history. What was granted in the previous one stays bound to
 * that. */
static enum seqb_status history_begin(struct mysql_link *link,
                                      const struct voucher *voucher,
                                      struct seqb_error *err)
{
    uint64_t nonce[2];
    enum seqb_status status;

    if (getrandom(nonce, sizeof nonce, 0) != (ssize_t)sizeof nonce)
        return error_set(err, SEQB_UNREACHABLE, "%s: no random bytes",
                         link->where);
    mysql_link_add(link,
                   "INSERT INTO seqb_claims (name, text) VALUES "
                   "('%s', '%016" PRIx64 "%016" PRIx64 "') "
                   "ON DUPLICATE KEY UPDATE text = VALUES(text)",
                   MYSQL_HISTORY, nonce[0], nonce[1]);
    status = mysql_link_send(link, SEQB_UNREACHABLE, err);
    if (status == SEQB_OK)
        status = mysql_link_next_commit(link, err);
    return status == SEQB_OK ? voucher_write(link, voucher, err) : status;
}

/* --- other nodes --- */

/* The missing voucher is read first, and written as it was read: a change of
 * the tables in between makes it invalid. */
static bool node_vouches(struct mysql_link *from, struct mysql_link *to,
                         const struct voucher *missing)
{
    struct voucher voucher = {.is_there = false};
    struct node_state here;
    struct node_state there;

    return missing->is_alone && missing->history[0] != '\0' &&
           voucher_read(from, &voucher, NULL) == SEQB_OK && voucher.is_there &&
           strcmp(voucher.history, missing->history) == 0 &&
           mysql_node_read(from, &here, NULL) == SEQB_OK &&
           mysql_node_read(to, &there, NULL) == SEQB_OK &&
           mysql_node_is_with(&here, &there) &&
           voucher_write(to, missing, NULL) == SEQB_OK;
}

/* Gives the voucher to the node that lacks it. */
static void peer_meet(struct mysql *mysql, struct mysql *peer,
                      struct voucher *own)
{
    struct voucher theirs = {.is_there = false};

    if (voucher_read(&peer->link, &theirs, NULL) != SEQB_OK)
        return;
    if (own->is_there && !theirs.is_there && mysql_node_is_settled(&peer->link))
        (void)node_vouches(&mysql->link, &peer->link, &theirs);
    else if (!own->is_there && theirs.is_there)
        own->is_there = node_vouches(&peer->link, &mysql->link, own);
}

static void peer_ask(struct mysql *mysql, struct voucher *own,
                     const struct seqb_backend_options *options,
                     const char *address)
{
    struct mysql peer = {.has_incarnation = false};

    if (mysql_node_open(&peer, options, address, NULL) == SEQB_OK &&
        strcmp(peer.link.where, mysql->link.where) != 0)
        peer_meet(mysql, &peer, own);
    mysql_link_close(&peer.link);
}

/* A node that hangs costs a second. A node that has its voucher asks others
 * only while a second is left; a node without one needs their answer. */
static void peers_ask(struct mysql *mysql, struct voucher *own,
                      const struct seqb_backend_options *options)
{
    for (size_t i = 0; options->endpoints[i] != NULL; i++) {
        struct seqb_backend_options peer = *options;
        const int64_t rest_ms = mysql->link.deadline_ms - clock_now_ms();

        if (rest_ms <= 0 || (own->is_there && rest_ms < SECOND_MS))
            return;
        if (rest_ms > SECOND_MS)
            peer.connect_timeout_ms = SECOND_MS;
        else
            peer.connect_timeout_ms = (int32_t)rest_ms;
        peer_ask(mysql, own, &peer, options->endpoints[i]);
    }
}

enum seqb_status mysql_cluster_enter(struct mysql *mysql,
                                     const struct seqb_backend_options *options,
                                     struct seqb_error *err)
{
    struct voucher own = {.is_there = false};
    enum seqb_status status = mysql_incarnation_find(mysql, err);

    if (status == SEQB_OK)
        status = voucher_read(&mysql->link, &own, err);
    if (status != SEQB_OK)
        return status;
    peers_ask(mysql, &own, options);
    if (own.is_there)
        return SEQB_OK;
    status = history_begin(&mysql->link, &own, err);
    if (status == SEQB_OK)
        status = voucher_read(&mysql->link, &own, err);
    if (status == SEQB_OK)
        peers_ask(mysql, &own, options);
    return status;
}

/* --- connecting --- */

static int32_t share_ms(const char *const *left, int64_t until_ms)
{
    int32_t shares = 0;

    while (*left++ != NULL)
        shares++;
    return (int32_t)(until_ms - clock_now_ms()) / shares;
}

enum seqb_status
mysql_cluster_connect(struct mysql *mysql,
                      const struct seqb_backend_options *options,
                      struct seqb_error *err)
{
    const int64_t until_ms = clock_now_ms() + options->connect_timeout_ms;
    char said[SEQB_ERROR_TEXT_SIZE / 2] = "";
    enum seqb_status status = SEQB_UNREACHABLE;

    for (const char *const *at = options->endpoints; *at != NULL; at++) {
        struct seqb_backend_options node = *options;
        struct seqb_error why;

        node.connect_timeout_ms = share_ms(at, until_ms);
        if (node.connect_timeout_ms <= 0) {
            (void)text_append(said, sizeof said, "; no time was left for %s",
                              *at);
            break;
        }
        status = mysql_node_open(mysql, &node, *at, &why);
        if (status == SEQB_OK) {
            mysql->link.deadline_ms = until_ms;
            return SEQB_OK;
        }
        mysql_link_close(&mysql->link);
        if (status == SEQB_UNSAFE || status == SEQB_INVALID)
            return error_copy(err, &why);
        (void)text_append(said, sizeof said, "%s%s",
                          said[0] != '\0' ? "; " : "", why.text);
    }
    return error_set(err, status,
                     "%s: no node of 'hosts' can be used, nothing was "
                     "changed: %s",
                     options->name, said);
}
