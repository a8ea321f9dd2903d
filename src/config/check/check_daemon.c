/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the settings that seqbrokerd needs to serve TLS, and its webhook. The
 * programs read the files. */
#include "config/check/check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "platform/text.h"

#define HOST_SIZE 256

/* The first setting that needs a certificate and its key; NULL if there is
 * none. `*line` is the setting's line. */
static const char *certificate_user(const struct draft_daemon *daemon,
                                    int *line)
{
    const struct {
        const char *name;
        bool is_set;
        int line;
    } users[] = {
        {"tls_listen", daemon->tls_listen.count > 0, daemon->tls_listen.line},
        {"https", daemon->https.count > 0, daemon->https.line},
        {"tls_cert_file", daemon->tls_cert_file.text != NULL,
         daemon->tls_cert_file.line},
        {"tls_key_file", daemon->tls_key_file.text != NULL,
         daemon->tls_key_file.line},
    };

    for (size_t i = 0; i < sizeof users / sizeof users[0]; i++) {
        *line = users[i].line;
        if (users[i].is_set)
            return users[i].name;
    }
    return NULL;
}

/* What is behind the scheme of a URL; NULL if it is no URL of HTTP. */
static const char *url_rest(const char *url)
{
    static const char *const schemes[] = {"https://", "http://"};

    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
        if (strncmp(url, schemes[i], strlen(schemes[i])) == 0)
            return url + strlen(schemes[i]);
    return NULL;
}

/* Takes the host from the begin of `*place`, which is then behind it. */
static bool is_host(const char **place)
{
    char host[HOST_SIZE];
    struct in6_addr address;
    const bool is_bracketed = **place == '[';
    const char *begin = is_bracketed ? *place + 1 : *place;
    const size_t length = strcspn(begin, is_bracketed ? "]" : ":");

    if (length == 0 ||
        !text_format(host, sizeof host, "%.*s", (int)length, begin))
        return false;
    *place = begin + length;
    if (!is_bracketed)
        return true;
    host[strcspn(host, "%")] = '\0'; /* the zone of an address */
    return *(*place)++ == ']' && inet_pton(AF_INET6, host, &address) == 1;
}

static bool is_port(const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    const long port = digits > 0 && digits <= 5 ? strtol(text, NULL, 10) : 0;

    return text[digits] == '\0' && port >= 1 && port <= 65535;
}

/* Whether a webhook can be one: there are a host, and a port if there is a
 * colon. The daemon's HTTP client checks the rest. */
static bool is_webhook(const char *url)
{
    char place_text[2 * HOST_SIZE]; /* user:password@host:port */
    const char *rest = url_rest(url);
    const char *place = place_text;

    for (const char *at = url; *at != '\0'; at++)
        if ((unsigned char)*at <= ' ' || *at == '\x7f')
            return false;
    if (rest == NULL || !text_format(place_text, sizeof place_text, "%.*s",
                                     (int)strcspn(rest, "/?#"), rest))
        return false;
    if (strrchr(place, '@') != NULL)
        place = strrchr(place, '@') + 1;
    return is_host(&place) &&
           (*place == '\0' || (*place == ':' && is_port(place + 1)));
}

static void check_webhook(const struct draft_text *webhook,
                          struct diagnostics *diagnostics)
{
    if (webhook->text != NULL && !is_webhook(webhook->text))
        diagnostics_add(
            diagnostics, webhook->line,
            "'webhook' wants a URL with a host, "
            "https://HOST[:PORT]/... or http://..., without spaces");
}

static void check_absolute(const struct draft_text *path, const char *name,
                           struct diagnostics *diagnostics)
{
    if (path->text != NULL && path->text[0] != '/')
        diagnostics_add(diagnostics, path->line,
                        "'%s' is \"%.80s\", but must be an absolute path", name,
                        path->text);
}

/* Whether "HOST:PORT" is a number that other machines may reach. What a name
 * stands for is only known to the daemon. */
static bool is_open_address(const char *text)
{
    const char *end = strrchr(text, ':');
    const bool is_bracketed = text[0] == '[';
    char host[HOST_SIZE];
    struct in6_addr six;
    struct in_addr four;

    if (end == NULL || end - text < 2 ||
        !text_format(host, sizeof host, "%.*s",
                     (int)(end - text) - 2 * is_bracketed, text + is_bracketed))
        return false;
    if (inet_pton(AF_INET, host, &four) == 1)
        return ntohl(four.s_addr) >> 24 != IN_LOOPBACKNET;
    return inet_pton(AF_INET6, host, &six) == 1 && !IN6_IS_ADDR_LOOPBACK(&six);
}

/* An option may say otherwise, so it is no mistake. */
static void check_open(const struct draft *draft, const char *name,
                       const struct draft_names *addresses,
                       struct diagnostics *diagnostics)
{
    if (draft->user_count > 0 || draft->daemon->open_to_all.number != 0)
        return;
    for (size_t i = 0; i < addresses->count; i++)
        if (addresses->names[i] != NULL && /* not one that is a mistake */
            is_open_address(addresses->names[i]))
            diagnostics_warn(diagnostics, addresses->line,
                             "'%s' has %.80s, which other machines may reach: "
                             "the daemon starts there only with users, or with "
                             "open_to_all = true (docs/secure.md)",
                             name, addresses->names[i]);
}

void check_daemon(const struct draft *draft, struct diagnostics *diagnostics)
{
    const struct draft_daemon *daemon = draft->daemon;
    const char *auth = daemon->tls_client_auth.text;
    int line = 0;
    const char *user = certificate_user(daemon, &line);

    if (user != NULL && daemon->tls_cert_file.line == 0)
        diagnostics_add(diagnostics, line,
                        "'%s' needs a certificate: add tls_cert_file", user);
    if (user != NULL && daemon->tls_key_file.line == 0)
        diagnostics_add(diagnostics, line,
                        "'%s' needs the certificate's key: add tls_key_file",
                        user);
    if (auth != NULL && strcmp(auth, "none") != 0 &&
        daemon->tls_ca_file.line == 0)
        diagnostics_add(diagnostics, daemon->tls_client_auth.line,
                        "'tls_client_auth' = \"%s\" needs the CAs that sign "
                        "clients' certificates: add tls_ca_file",
                        auth);
    check_webhook(&daemon->webhook, diagnostics);
    check_absolute(&daemon->audit_file, "audit_file", diagnostics);
    check_absolute(&daemon->on_event, "on_event", diagnostics);
    check_open(draft, "listen", &daemon->listen, diagnostics);
    check_open(draft, "tls_listen", &daemon->tls_listen, diagnostics);
    check_open(draft, "http", &daemon->http, diagnostics);
    check_open(draft, "https", &daemon->https, diagnostics);
}
