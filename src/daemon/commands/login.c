/* SPDX-License-Identifier: Apache-2.0 */
/* AUTH: logs a session in. Another thread checks the password, so the command
 * may have to wait, and is then executed again. */
#include <stddef.h>
#include <string.h>

#include "daemon/commands/commands.h"
#include "daemon/daemon.h"
#include "daemon/session.h"

static const struct resp_slice default_user = {"default", 7};

void secret_blank(struct resp_slice secret)
{
    memset((char *)(uintptr_t)secret.data, '*', secret.length);
}

void words_blank(const struct resp_request *request, size_t first)
{
    for (size_t i = first; i < request->argc; i++)
        secret_blank(request->argv[i]);
}

static void session_on_login(struct login_waiter *waiter)
{
    struct session *session =
        (struct session *)((char *)waiter - offsetof(struct session, login));

    session->resume(session);
}

static enum login_outcome login_begin(struct session *session,
                                      struct resp_slice name,
                                      struct resp_slice secret)
{
    const struct access *access = &session->daemon->access;
    char source[LOGIN_SOURCE_SIZE];
    const struct attempt attempt = {.name = name.data,
                                    .name_length = name.length,
                                    .secret = secret.data,
                                    .secret_length = secret.length,
                                    .source = source};

    identity_source(session->fd, source);
    session->login = (struct login_waiter){.done = session_on_login};
    return logins_try(access->logins, access->users, &attempt, &session->login,
                      daemon_now_ms());
}

static void reply_login_refused(struct session *session,
                                enum login_outcome outcome)
{
    const int64_t tenths = (session->login.wait_ms + 99) / 100;

    if (outcome == LOGIN_SLOWED)
        reply_error(&session->out, "LIMIT",
                    "too many logins from this address were wrong: try again "
                    "in %lld.%lld s",
                    (long long)(tenths / 10), (long long)(tenths % 10));
    else if (outcome == LOGIN_BUSY)
        reply_error(&session->out, "LIMIT",
                    "too many logins at once: try again");
    else if (outcome == LOGIN_SHORT)
        reply_error(&session->out, "NOMEMORY", "out of memory: try again");
    else
        reply_error(&session->out, "WRONGPASS",
                    "invalid username-password pair or user is disabled.");
}

static void login_refuse(struct session *session, struct resp_slice name,
                         enum login_outcome outcome)
{
    static const char *const reasons[] = {[LOGIN_WRONG] = "wrong",
                                          [LOGIN_SLOWED] = "slowed",
                                          [LOGIN_BUSY] = "busy",
                                          [LOGIN_SHORT] = "out of memory"};
    session_audit(session, audit_login_refused,
                  &(struct audit_entry){
                      .user = users_shown_name(session->daemon->access.users,
                                               name.data, name.length),
                      .command = session->command->name,
                      .reason = reasons[outcome]});
    reply_login_refused(session, outcome);
}

/* Makes the session the user's. False after answering that the user has its
 * maximum of connections. */
static bool login_enter(struct session *session)
{
    const struct login_waiter *login = &session->login;
    struct identity identity = session->identity;

    identity_of_user(login->user, login->by_token, &identity);
    if (!session_try_become(session, &identity)) {
        session_refuse_place(session, login->user);
        return false;
    }
    return true;
}

enum command_outcome session_log_in(struct session *session,
                                    const struct resp_slice *name,
                                    struct resp_slice secret, bool *is_well)
{
    const struct resp_slice user = name != NULL ? *name : default_user;
    enum login_outcome outcome = session->login.outcome;

    *is_well = false;
    if (users_count(session->daemon->access.users) == 0) {
        secret_blank(secret);
        session->is_logging_in = false;
        reply_error(&session->out, "ERR",
                    "no password is set: the topology has no users");
        return COMMAND_DONE;
    }
    if (!session->is_logging_in)
        outcome = login_begin(session, user, secret);
    secret_blank(secret);
    session->is_logging_in = outcome == LOGIN_PENDING;
    *is_well = outcome == LOGIN_RIGHT;
    if (outcome == LOGIN_PENDING)
        return COMMAND_WAITS;
    if (outcome == LOGIN_RIGHT)
        *is_well = login_enter(session);
    else
        login_refuse(session, user, outcome);
    return COMMAND_DONE;
}

enum command_outcome command_auth(struct session *session,
                                  const struct resp_request *request)
{
    const struct resp_slice secret = request->argv[request->argc - 1];
    enum command_outcome outcome;
    bool is_well = false;

    if (request->argc > 3) {
        words_blank(request, 1);
        reply_error(&session->out, "ERR", "syntax error: AUTH [user] password");
        return COMMAND_DONE;
    }
    outcome =
        session_log_in(session, request->argc == 3 ? &request->argv[1] : NULL,
                       secret, &is_well);
    if (is_well)
        reply_simple(&session->out, "OK");
    return outcome;
}
