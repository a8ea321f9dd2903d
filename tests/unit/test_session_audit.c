/* SPDX-License-Identifier: Apache-2.0 */
/* Orders of sessions in the audit, and what a session becomes by RESET. The
 * broker is a stub. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/server.h"
#include "support/test.h"
#include "support/users.h"
#include "unit/session_fixture.h"

#define AUDIT_SIZE 65536

static void ask(struct server *server, struct talker *talker, const char *words,
                const char *begin)
{
    const size_t before = talker->length;

    talker_say(talker, words, strlen(words));
    dialogue_finish(server, talker);
    assert_true(talker->length >= before + strlen(begin));
    assert_memory_equal(talker->heard + before, begin, strlen(begin));
}

/* --- refused orders --- */

static void file_read(const char *file, char out[AUDIT_SIZE])
{
    const int fd = open(file, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? 0 : read(fd, out, AUDIT_SIZE - 1);

    out[got > 0 ? got : 0] = '\0';
    if (fd >= 0)
        close(fd);
    (void)unlink(file);
}

static size_t lines_count(const char *text)
{
    size_t count = 0;

    for (; (text = strchr(text, '\n')) != NULL; text++)
        count++;
    return count;
}

/* Each is a line, and none is two. */
TEST(each_refused_order_is_in_the_audit)
{
    static const struct {
        const char *words, *answer, *line;
    } rows[] = {
        {"SEQ.ADVANCE a x\r\n", "-ERR value is not an integer",
         "command=SEQ.ADVANCE target=a reason=\"ERR value is not"},
        {"SEQ.ADVANCE a 5 NOW\r\n", "-ERR syntax error",
         "command=SEQ.ADVANCE target=a reason=\"ERR syntax"},
        {"SEQ.ADVANCE a\r\n", "-ERR wrong number",
         "command=SEQ.ADVANCE target=a reason=\"ERR wrong number"},
        {"SEQ.ADVANCE foreign 5\r\n", "-NOPERM user",
         "command=SEQ.ADVANCE target=foreign reason=\"NOPERM "},
        {"SEQ.PARTITION KILL 0\r\n", "-ERR unknown order",
         "command=SEQ.PARTITION target=\"\" reason=\"ERR unknown order"},
        {"SEQ.PARTITION DRAIN nowhere\r\n", "-ERR there is no partition",
         "command=\"SEQ.PARTITION DRAIN\" target=nowhere "},
        {"SEQ.RELOAD NOW\r\n", "-ERR use SEQ.RELOAD",
         "command=SEQ.RELOAD target=\"\" reason=\"ERR use"},
        {"SEQ.DRAIN NOW\r\n", "-ERR wrong number",
         "command=SEQ.DRAIN target=\"\" reason=\"ERR wrong number"},
    };
    static const char *const settings[] = {
        "users.name", "boss", "users.role", "admin", "users.keys", "a", NULL};
    static char text[AUDIT_SIZE];
    struct server *server = server_over_stub(PLENTY, SEQB_AGAIN, MINUTE_MS);
    struct users *users = users_of(settings);
    struct talker talker = talker_of(server);
    struct session *session =
        TAILQ_LAST(&server->daemon.sessions, session_list);
    char folder[] = "/tmp/seqb-audit-XXXXXX";
    char file[64];

    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/audit", folder);
    server->daemon.access.audit.file = file;
    identity_of_user(users_find(users, "boss", 4), false, &session->identity);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ask(server, &talker, rows[i].words, rows[i].answer);
        file_read(file, text);
        if (lines_count(text) != 1 || strstr(text, rows[i].line) == NULL ||
            strstr(text, "event=order_refused user=boss ") == NULL)
            fail_msg("%s: %s", rows[i].words, text);
    }
    ask(server, &talker, "INCR a b c\r\n", "-ERR ");
    ask(server, &talker, "PING\r\n", "+PONG");
    file_read(file, text);
    assert_string_equal(text, "");
    session->identity = (struct identity){.rights = RIGHTS_NONE};
    server_close(server);
    talker_fini(&talker);
    users_free(users);
    assert_int_equal(rmdir(folder), 0);
}

/* --- RESET --- */

TEST(reset_does_not_pass_the_limit_of_the_user_that_it_becomes)
{
    char uid[32];
    const char *const settings[] = {"users.name",
                                    "me",
                                    "users.role",
                                    "take",
                                    "users.max_connections",
                                    "1",
                                    "users.uids",
                                    uid,
                                    "users.name",
                                    "other",
                                    "users.role",
                                    "take",
                                    NULL};
    struct server *server = server_over_stub(PLENTY, SEQB_AGAIN, MINUTE_MS);
    struct users *users = NULL;
    struct identity other = {.rights = RIGHTS_NONE};
    struct talker talker;
    struct talker second;

    snprintf(uid, sizeof uid, "%lu", (unsigned long)geteuid());
    users = users_of(settings);
    access_swap(&server->daemon.access, users);
    talker_init(&talker, server);
    identity_of_user(users_find(users, "other", 5), false, &other);
    session_become(TAILQ_LAST(&server->daemon.sessions, session_list), &other);
    talker_init(&second, server); /* has the place of "me" */
    ask(server, &talker, "RESET\r\n", "-LIMIT user 'me' has as many");
    while (talker.fd >= 0) {
        dialogue_turn(server);
        (void)talker_receive(&talker);
    }
    assert_int_equal(server->daemon.limits.connections_refused, 1);
    ask(server, &second, "RESET\r\n", "+RESET");
    talker_fini(&second);
    talker_fini(&talker);
    server_close(server);
    users_free(users);
}
