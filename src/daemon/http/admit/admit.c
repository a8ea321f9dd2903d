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
    char user[SHOWN_MAX + 1]; /* as the client sent it */
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
    snprintf(admission->user, sizeof admission->user, "%.*s",
             authorization->is_token ? 0 : (int)authorization->name_length,
             authorization->text);
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

/* Overwrites the secret: libevent keeps the header until the request is freed,
 * and does not wipe it. */
static void header_blank(const char *header)
{
    credential_wipe((char *)(uintptr_t)header, strlen(header));
}

static bool log_in(struct exchange *exchange, const char *header)
{
    struct authorization authorization;
    const bool is_read = authorization_read(header, &authorization);
    struct admission *admission = calloc(1, sizeof *admission);
    bool is_well = false;

    header_blank(header);
    if (!is_read || admission == NULL) {
        free(admission);
        refuse(exchange, is_read ? HTTP_SERVUNAVAIL : HTTP_UNAUTHORIZED, "ERR",
               is_read ? "out of memory"
                       : "Authorization is Basic, or Bearer and a token");
        return false;
    }
    is_well = admission_begin(exchange, admission, &authorization);
    authorization_wipe(&authorization);
    return is_well;
}

/* --- who asks --- */

static void identify_origin(struct exchange *exchange)
{
    struct tls_peer *certificate = exchange_certificate(exchange);

    identity_of_origin(&exchange->exchanges->daemon->access,
                       (struct origin){exchange_socket(exchange), certificate},
                       &exchange->identity);
    free(certificate);
}

/* Identifies the client. If there are no users, a password that it sends is
 * ignored. */
static bool identify(struct exchange *exchange)
{
    const struct access *access = &exchange->exchanges->daemon->access;
    const char *header = evhttp_find_header(
        evhttp_request_get_input_headers(exchange->request), "Authorization");

    identify_origin(exchange);
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
    certificate = exchange_certificate(exchange);
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

bool admit(struct exchange *exchange, enum right needs, const char *path,
           const char *key)
{
    const struct identity *identity = &exchange->identity;
    char why[WHY_SIZE];
    const char *code;

    if (needs == RIGHT_OPEN)
        return true;
    if (!exchange->is_identified && !identify(exchange))
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
