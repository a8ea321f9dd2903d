/* SPDX-License-Identifier: Apache-2.0 */
/* The services of a session for its commands; see session.h. */
#include "daemon/session.h"

#include <string.h>

#include <seqbroker/admin.h>

#include "daemon/commands/commands.h"
#include "daemon/daemon.h"

#define REFUSAL_SIZE 256

struct origin session_origin(const struct session *session)
{
    return (struct origin){session->fd, session->peer};
}

bool session_is_unknown(const struct session *session)
{
    return session->identity.rights == RIGHTS_NONE;
}

size_t session_unsent_max(const struct session *session)
{
    return session_is_unknown(session) ||
                   limits_are_full(&session->daemon->limits)
               ? LIMITS_SMALL
               : SESSION_UNSENT_MAX;
}

bool session_has_room(const struct session *session)
{
    return session->out.length <= session_unsent_max(session);
}

void session_account(struct session *session, size_t beside)
{
    limits_hold(
        &session->daemon->limits, &session->held,
        session->in.capacity + session->out.capacity + session->batch_size +
            beside +
            (session->listing != NULL ? session->listing->text_size : 0));
}

bool session_may_hold(struct session *session, size_t bytes, bool of_operator)
{
    struct limits *limits = &session->daemon->limits;
    const bool is_operator =
        session->is_local && (session->identity.rights & RIGHT_ADMIN) != 0;

    if (bytes <= LIMITS_SMALL || (of_operator && is_operator) ||
        !limits_are_passed(limits, bytes))
        return true;
    limits->answers_refused++;
    reply_error(&session->out, "OOM",
                "the answer needs %zu bytes, and clients hold %lld of "
                "max_client_memory, %lld: ask for less, or try again",
                bytes, (long long)limits->client_memory,
                (long long)limits->options.max_client_memory);
    return false;
}

void session_audit(struct session *session, audit_function *audit,
                   const struct audit_entry *entry)
{
    struct audit_entry whole = *entry;
    char name[IDENTITY_NAME_SIZE];
    char from[ADDRESS_SIZE];

    identity_from(session->fd, from);
    whole.from = from;
    if (whole.user == NULL)
        whole.user = identity_name(&session->identity, name);
    whole.by = identity_means_name(&session->identity);
    session->is_audited = true;
    audit(&session->daemon->access.audit, &whole,
          (struct audit_time){daemon_now_ms(), daemon_wall_ms()});
}

/* --- identity and quotas --- */

void session_leave(struct session *session)
{
    quota_occupy(&session->quota, NULL);
}

void session_become(struct session *session, const struct identity *identity)
{
    session->identity = *identity;
    if (!session_is_unknown(session))
        session->unknown_ms = 0;
    else if (session->unknown_ms == 0)
        session->unknown_ms = daemon_now_ms();
    session->waitlist = NULL; /* its key was checked for the old identity */
    quota_occupy(&session->quota, identity_quota(identity));
}

bool session_try_become(struct session *session,
                        const struct identity *identity)
{
    struct quota *quota = identity_quota(identity);

    if (quota != NULL && quota != session->quota && quota_is_full(quota)) {
        daemon_refuse_place(session->daemon, quota);
        return false;
    }
    session_become(session, identity);
    return true;
}

void session_bar(struct session *session)
{
    const struct identity nobody = {.rights = RIGHTS_NONE};

    session_become(session, &nobody);
    session->unknown_ms = 0; /* it need not log in */
    session->is_barred = true;
}

void session_refuse_place(struct session *session, const struct user *user)
{
    reply_error(&session->out, "LIMIT", USER_IS_FULL, user_name(user));
}

bool session_enter(struct session *session)
{
    struct identity identity;

    identity_of_origin(&session->daemon->access, session_origin(session),
                       &identity);
    return session_try_become(session, &identity);
}

bool session_charge(struct session *session, const struct waitlist *waitlist,
                    size_t count, int64_t beside, struct charge *charge)
{
    struct charge_refusal refusal = {.wait_ms = 0};

    *charge = (struct charge){
        .user = session->quota, .key = waitlist->limit.quota, .beside = beside};
    if ((charge->user == NULL && charge->key == NULL) || count == 0 ||
        count > SEQB_TAKE_MAX || /* the library refuses it */
        charge_take(charge, &session->daemon->access.quotas, (int64_t)count,
                    daemon_quota_time(), &refusal))
        return true;
    session->retry_ms = refusal.wait_ms;
    reply_error(&session->out, refusal.code, "%s", refusal.text);
    return false;
}

size_t session_charge_some(struct session *session, struct charge *charge,
                           size_t most)
{
    struct charge_refusal refusal;
    struct quota_time now;
    int64_t count = (int64_t)most;

    if ((charge->user == NULL && charge->key == NULL) || most == 0)
        return most;
    now = daemon_quota_time();
    count = charge_most(charge, count, now);
    if (count == 0 || !charge_take(charge, &session->daemon->access.quotas,
                                   count, now, &refusal))
        return 0;
    return (size_t)count;
}

/* --- rights and keys --- */

static bool is_last_key(const struct session *session, struct resp_slice key)
{
    const struct waitlist *waitlist = session->waitlist;

    return waitlist != NULL && waitlist->key_length == key.length &&
           memcmp(waitlist->key, key.data, key.length) == 0;
}

/* The key of session->waitlist has been allowed already; session_become forgets
 * it. */
static bool session_may_use(const struct session *session,
                            struct resp_slice key)
{
    return is_last_key(session, key) ||
           identity_may_use(&session->identity, key.data, key.length);
}

static void session_refuse(struct session *session,
                           const struct command *command)
{
    char why[REFUSAL_SIZE];
    const char *code = access_refuse(&session->identity, command->needs,
                                     command->name, why, sizeof why);

    if (command->needs == RIGHT_ADMIN)
        session_audit(
            session, audit_order_refused,
            &(struct audit_entry){.command = command->name, .reason = why});
    reply_error(&session->out, code, "%s", why);
}

bool session_has_begun(const struct session *session)
{
    return session->blocking_call != NULL || session->batch != NULL ||
           session->listing != NULL;
}

bool session_may(struct session *session, const struct command *command,
                 const struct resp_request *request)
{
    const struct identity *identity = &session->identity;
    char name[IDENTITY_NAME_SIZE];

    if (session_has_begun(session))
        return true;
    if ((identity->rights & command->needs) == 0) {
        session_refuse(session, command);
        return false;
    }
    if (!identity->is_limited || !command->takes_key ||
        session_may_use(session, request->argv[1]))
        return true;
    reply_error(&session->out, "NOPERM", "user '%s' may not use the key '%.*s'",
                identity_name(identity, name), word_shown(request->argv[1]),
                request->argv[1].data);
    return false;
}

bool session_knows(const struct session *session, struct resp_slice key)
{
    return is_last_key(session, key) ||
           waitlists_have(&session->daemon->waitlists, key);
}

struct waitlist *session_waitlist(struct session *session,
                                  struct resp_slice key, struct seqb_error *err)
{
    struct waitlist *waitlist = session->waitlist;

    if (is_last_key(session, key))
        return waitlist;
    if (waitlists_find(&session->daemon->waitlists, key, &waitlist, err) !=
        SEQB_OK) {
        reply_failure(&session->out, err);
        return NULL;
    }
    if (!key_quota_update(&waitlist->limit, &session->daemon->access.quotas,
                          session->daemon->access.users, waitlist->key)) {
        *err = (struct seqb_error){SEQB_NO_MEMORY, "out of memory"};
        reply_failure(&session->out, err);
        return NULL;
    }
    session->waitlist = waitlist;
    return waitlist;
}

void session_answered(struct session *session, size_t count, size_t size)
{
    session->ahead.data += count * size;
    session->ahead.length -= count * size;
    session->daemon->commands_processed += (int64_t)count;
    session->repeats = (int64_t)count;
    session->budget -= (int)count;
}

/* Waits until the sequence's deadline. */
static void session_wait(struct session *session, struct waitlist *waitlist)
{
    const bool has_waited = session->wait_until_ms != 0;

    if (!has_waited)
        session->wait_until_ms =
            daemon_now_ms() + seqb_deadline_ms(waitlist->sequence);
    waitlists_join(&session->daemon->waitlists, waitlist, &session->waiter,
                   has_waited);
}

bool session_lines_up(struct session *session, struct waitlist *waitlist)
{
    if (!waitlist_has_waiters(waitlist) || session->is_late)
        return false;
    session_wait(session, waitlist);
    return true;
}

/* Answers TIMEOUT. A sequence with a period may have waited for the clock. */
static void reply_late(struct session *session, const struct waitlist *waitlist)
{
    const long long deadline_ms = seqb_deadline_ms(waitlist->sequence);
    struct seqb_clock_status clock = {.behind_ms = 0};

    if (seqb_clock(session->daemon->broker, &clock, sizeof clock, NULL) ==
            SEQB_OK &&
        clock.behind_ms > 0)
        reply_error(&session->out, "TIMEOUT",
                    "%s: no number came within %lld ms: the backends did not "
                    "answer, or the clock, which is %lld ms behind, has to "
                    "catch up",
                    waitlist->key, deadline_ms, (long long)clock.behind_ms);
    else
        reply_error(&session->out, "TIMEOUT",
                    "%s: the backends did not answer within %lld ms",
                    waitlist->key, deadline_ms);
}

enum command_outcome session_wait_or_fail(struct session *session,
                                          struct waitlist *waitlist,
                                          const struct seqb_error *err)
{
    bool may_come =
        err->status == SEQB_AGAIN || err->status == SEQB_UNAVAILABLE;

    if (may_come && !session->is_late) {
        session_wait(session, waitlist);
        return COMMAND_WAITS;
    }
    if (err->status == SEQB_AGAIN)
        reply_late(session, waitlist);
    else
        reply_failure(&session->out, err);
    return COMMAND_DONE;
}

bool session_integer(struct session *session, struct resp_slice word,
                     long long *out)
{
    if (word_to_integer(word, out))
        return true;
    reply_error(&session->out, "ERR",
                "value is not an integer or out of range: '%.*s'",
                word_shown(word), word.data);
    return false;
}

bool session_is_text(struct session *session,
                     const struct resp_request *request, size_t count,
                     bool *out)
{
    *out = request->argc == count + 1 && word_is(request->argv[count], "STR");
    if (*out || request->argc == count)
        return true;
    reply_error(&session->out, "ERR", "syntax error: %s",
                session->command->summary);
    return false;
}
