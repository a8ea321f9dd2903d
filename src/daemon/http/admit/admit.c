/* SPDX-License-Identifier: Apache-2.0 */
/* Logins by HTTP; see admit.h. */
#include "daemon/http/admit/admit.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/daemon.h"
#include "daemon/http/exchange.h"
#include "daemon/http/problem.h"
#include "tls/tls.h"

/* HTTP statuses that libevent does not define. */
#define HTTP_UNAUTHORIZED 401
#define HTTP_FORBIDDEN    403
#define HTTP_TOO_MANY     429

#define WHY_SIZE  256
#define SHOWN_MAX 64 /* bytes of a user's name in the audit */

/* A request whose password is being checked. */
struct admission {
    struct pending pending; /* first: an admission is found by its pending */
    struct login_waiter waiter;
    char user[SHOWN_MAX + 1]; /* users_shown_name; empty for a token */
};

/* --- refusing --- */

static void refuse(struct exchange *exchange, int status, const char *code,
                   const char *why)
{
    if (status == HTTP_UNAUTHORIZED) {
        exchange_header(exchange, "WWW-Authenticate",
                        "Basic realm=\"seqbroker\", charset=\"UTF-8\"");
        exchange_header(exchange, "WWW-Authenticate",
                        "Bearer realm=\"seqbroker\"");
    }
    problem_answer(exchange, status, code, why);
}

static void login_audit(struct exchange *exchange, const char *user,
                        const char *reason)
{
    char from[ADDRESS_SIZE];

    identity_from(exchange_socket(exchange), from);
    audit_login_refused(
        &exchange->exchanges->daemon->access.audit,
        &(struct audit_entry){
            .user = user, .from = from, .command = "HTTP", .reason = reason},
        (struct audit_time){daemon_now_ms(), daemon_wall_ms()});
}

static void login_refuse(struct exchange *exchange,
                         const struct login_waiter *waiter, const char *user)
{
    if (waiter->outcome == LOGIN_WRONG) {
        login_audit(exchange, user, "wrong");
        refuse(exchange, HTTP_UNAUTHORIZED, "WRONGPASS",
               "the user, its password or the token is wrong");
        return;
    }
    if (waiter->outcome == LOGIN_SHORT) {
        login_audit(exchange, user, "out of memory");
        refuse(exchange, HTTP_SERVUNAVAIL, "NOMEMORY",
               "out of memory: try again");
        return;
    }
    login_audit(exchange, user,
                waiter->outcome == LOGIN_SLOWED ? "slowed" : "busy");
    exchange_retry_after(exchange, waiter->wait_ms);
    refuse(exchange, HTTP_TOO_MANY, "LIMIT",
           waiter->outcome == LOGIN_SLOWED
               ? "too many logins from this address were wrong: try again later"
               : "too many logins at once: try again");
}

/* --- logging in --- */

static void admission_cancel(struct pending *pending)
{
    struct admission *admission = (struct admission *)pending;

    login_cancel(&admission->waiter);
    free(admission);
}

/* Makes the exchange the user's; it is routed again as that user. */
static void exchange_become(struct exchange *exchange,
                            const struct login_waiter *waiter)
{
    exchange->is_identified = true;
    identity_of_user(waiter->user, waiter->by_token, &exchange->identity);
}

static void admission_on_login(struct login_waiter *waiter)
{
    struct admission *admission =
        (struct admission *)((char *)waiter -
                             offsetof(struct admission, waiter));
    struct exchange *exchange = admission->pending.exchange;

    exchange_resume(exchange);
    if (waiter->outcome == LOGIN_RIGHT) {
        exchange_become(exchange, waiter);
        exchange->route(exchange);
    } else {
        login_refuse(exchange, waiter, admission->user);
    }
    free(admission);
}

/* Starts the login. Takes ownership of the admission. Returns whether the
 * client is identified; if not, the exchange waits or is answered. */
static bool admission_begin(struct exchange *exchange,
                            struct admission *admission,
                            const struct authorization *authorization)
{
    const struct access *access = &exchange->exchanges->daemon->access;
    struct login_waiter *waiter = &admission->waiter;
    char source[LOGIN_SOURCE_SIZE];
    const struct attempt attempt = {
        .name = authorization->is_token ? NULL : authorization->text,
        .name_length = authorization->name_length,
        .secret = authorization->secret,
        .secret_length = authorization->secret_length,
        .source = source};

    identity_source(exchange_socket(exchange), source);
    snprintf(admission->user, sizeof admission->user, "%s",
             authorization->is_token
                 ? ""
                 : users_shown_name(access->users, authorization->text,
                                    authorization->name_length));
    waiter->done = admission_on_login;
    if (logins_try(access->logins, access->users, &attempt, waiter,
                   daemon_now_ms()) == LOGIN_PENDING) {
        admission->pending.cancel = admission_cancel;
        exchange_wait(exchange, &admission->pending);
        return false;
    }
    if (waiter->outcome == LOGIN_RIGHT)
        exchange_become(exchange, waiter);
    else
        login_refuse(exchange, waiter, admission->user);
    free(admission);
    return exchange->is_identified;
}

static bool log_in(struct exchange *exchange, const char *header)
{
    struct authorization authorization;
    const bool is_read = authorization_read(header, &authorization);
    struct admission *admission = calloc(1, sizeof *admission);
    bool is_well = false;

    exchange_wipe(exchange);
    if (!is_read || admission == NULL) {
        free(admission);
        authorization_wipe(&authorization);
        refuse(exchange, is_read ? HTTP_SERVUNAVAIL : HTTP_UNAUTHORIZED,
               is_read ? "NOMEMORY" : "ERR",
               is_read ? "out of memory"
                       : "Authorization is Basic, or Bearer and a token");
        return false;
    }
    is_well = admission_begin(exchange, admission, &authorization);
    authorization_wipe(&authorization);
    return is_well;
}

/* --- who asks --- */

/* False after answering that memory is short. */
static bool certificate_read(struct exchange *exchange, struct tls_peer **out)
{
    if (exchange_certificate(exchange, out))
        return true;
    exchange_header(exchange, "Connection", "close");
    refuse(exchange, HTTP_SERVUNAVAIL, "NOMEMORY",
           "the names in the certificate cannot be read: out of memory, or "
           "malformed");
    return false;
}

/* False if a refusal is answered. */
static bool identify_origin(struct exchange *exchange)
{
    struct tls_peer *certificate = NULL;

    if (!certificate_read(exchange, &certificate))
        return false;
    identity_of_origin(&exchange->exchanges->daemon->access,
                       (struct origin){exchange_socket(exchange), certificate},
                       &exchange->identity);
    free(certificate);
    return true;
}

/* Identifies the client. If there are no users, a password that it sends is
 * ignored. */
static bool identify(struct exchange *exchange)
{
    const struct access *access = &exchange->exchanges->daemon->access;
    const char *header = evhttp_find_header(
        evhttp_request_get_input_headers(exchange->request), "Authorization");

    if (!identify_origin(exchange))
        return false;
    if (header != NULL && users_count(access->users) > 0)
        return log_in(exchange, header);
    exchange->is_identified = true;
    return true;
}

bool admit_certificate(struct exchange *exchange)
{
    const struct access *access = &exchange->exchanges->daemon->access;
    struct tls_peer *certificate = NULL;
    bool is_barred = false;

    if (!access->wants_user)
        return true;
    if (!certificate_read(exchange, &certificate))
        return false;
    is_barred = access_bars(access, certificate);
    if (is_barred) {
        login_audit(exchange,
                    certificate != NULL ? certificate->common_name : "",
                    "no user's certificate");
        exchange_header(exchange, "Connection", "close");
        refuse(exchange, HTTP_FORBIDDEN, "NOAUTH",
               "the certificate belongs to no user: see docs/tls.md");
    }
    free(certificate);
    return !is_barred;
}

/* False after answering that the user has as many connections as it may. */
static bool enter(struct exchange *exchange)
{
    char why[WHY_SIZE];

    if (exchange_enter(exchange))
        return true;
    daemon_refuse_place(exchange->exchanges->daemon,
                        identity_quota(&exchange->identity));
    snprintf(why, sizeof why, USER_IS_FULL, user_name(exchange->identity.user));
    exchange_retry_after(exchange, 0);
    exchange_header(exchange, "Connection", "close");
    refuse(exchange, HTTP_TOO_MANY, "LIMIT", why);
    return false;
}

bool admit(struct exchange *exchange, enum right needs, const char *path,
           const char *key)
{
    const struct identity *identity = &exchange->identity;
    char why[WHY_SIZE];
    const char *code;

    if (needs == RIGHT_OPEN)
        return true;
    exchange->needs = needs;
    snprintf(exchange->key, sizeof exchange->key, "%s", key);
    if ((!exchange->is_identified && !identify(exchange)) || !enter(exchange))
        return false;
    if ((identity->rights & needs) == 0) {
        code = access_refuse(identity, needs, path, why, sizeof why);
        refuse(exchange,
               strcmp(code, "NOAUTH") == 0 ? HTTP_UNAUTHORIZED : HTTP_FORBIDDEN,
               code, why);
        return false;
    }
    if (identity_may_use(identity, key, strlen(key)) || key[0] == '\0')
        return true;
    refuse(exchange, HTTP_FORBIDDEN, "NOPERM", "the user may not use this key");
    return false;
}
