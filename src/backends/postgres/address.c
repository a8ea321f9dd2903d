/* SPDX-License-Identifier: Apache-2.0 */
/* A backend's options as libpq's parameters. */
#include "backends/postgres/address.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "net/net.h"
#include "platform/error.h"
#include "platform/text.h"

#define DEFAULT_PORT 5432
#define PORT_MAX     65535

/* --- parameters --- */

/* Replaces the value of the keyword, if there is one; NULL changes nothing. */
static void parameter_set(struct postgres_address *address, const char *keyword,
                          const char *value)
{
    size_t i = 0;

    if (value == NULL)
        return;
    while (i < address->count && strcmp(address->keywords[i], keyword) != 0)
        i++;
    if (i == POSTGRES_PARAMETERS)
        return; /* more keywords than libpq has */
    address->keywords[i] = keyword;
    address->values[i] = value;
    if (i == address->count)
        address->count++;
}

static const char *parameter_get(const struct postgres_address *address,
                                 const char *keyword)
{
    for (size_t i = 0; i < address->count; i++) {
        if (strcmp(address->keywords[i], keyword) == 0)
            return address->values[i];
    }
    return NULL;
}

/* --- lists "a,b,c", where an item may be empty --- */

static int list_count(const char *list)
{
    int count = 1;

    for (; list != NULL && *list != '\0'; list++)
        count += *list == ',';
    return count;
}

/* A list of one item applies to all hosts. */
static bool list_item(const char *list, int i, char *out, size_t size)
{
    if (list_count(list) == 1)
        i = 0;
    for (; i > 0 && list != NULL; i--) {
        list = strchr(list, ',');
        list = list == NULL ? NULL : list + 1;
    }
    if (list == NULL)
        list = "";
    return text_format(out, size, "%.*s", (int)strcspn(list, ","), list);
}

/* --- from options --- */

static bool has_value(const char *text)
{
    return text != NULL && text[0] != '\0';
}

/* Refuses hosts that only libpq knows, of a service file or the environment:
 * two of them may lead, and this engine could not choose the valid one. */
static enum seqb_status hosts_check(const struct postgres_address *address,
                                    struct seqb_error *err)
{
    static const char *const variables[] = {"PGHOST", "PGHOSTADDR",
                                            "PGSERVICE"};

    if (has_value(parameter_get(address, "service")))
        return error_set(err, SEQB_INVALID,
                         "%s: conninfo names a service: name its hosts "
                         "instead, so that the one that leads is found",
                         address->name);
    if (has_value(parameter_get(address, "host")) ||
        has_value(parameter_get(address, "hostaddr")))
        return SEQB_OK;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        if (has_value(getenv(variables[i])))
            return error_set(err, SEQB_INVALID,
                             "%s: conninfo names no host, but $%s is set: name "
                             "the hosts in conninfo",
                             address->name, variables[i]);
    }
    return SEQB_OK;
}

static enum seqb_status conninfo_parse(struct postgres_address *address,
                                       const char *conninfo,
                                       struct seqb_error *err)
{
    char *message = NULL;

    address->parsed = PQconninfoParse(conninfo, &message);
    /* Not used, because libpq's message quotes the text. */
    PQfreemem(message);
    if (address->parsed == NULL)
        return error_set(err, SEQB_INVALID,
                         "%s: conninfo is none that libpq can read; its text "
                         "is not shown since it may hold a password",
                         address->name);
    for (const PQconninfoOption *at = address->parsed; at->keyword != NULL;
         at++)
        parameter_set(address, at->keyword, at->val);
    return hosts_check(address, err);
}

static const char *tls_mode(enum seqb_tls tls)
{
    switch (tls) {
    case SEQB_TLS_VERIFY:
        return "verify-full";
    case SEQB_TLS_REQUIRE:
        return "require";
    default:
        return "disable";
    }
}

static enum seqb_status options_set(struct postgres_address *address,
                                    const struct seqb_backend_options *options,
                                    struct seqb_error *err)
{
    if (options->host == NULL && options->socket_path == NULL)
        return error_set(err, SEQB_INVALID,
                         "%s: no host, no socket and no conninfo",
                         options->name);
    parameter_set(address, "host",
                  options->socket_path != NULL ? options->socket_path
                                               : options->host);
    (void)text_format(address->port, sizeof address->port, "%d",
                      options->port != 0 ? (int)options->port : DEFAULT_PORT);
    parameter_set(address, "port", address->port);
    parameter_set(address, "user", options->user);
    parameter_set(address, "dbname", options->database);
    parameter_set(address, "sslmode", tls_mode(options->tls));
    parameter_set(address, "sslrootcert", options->tls_ca);
    parameter_set(address, "sslcert", options->tls_cert);
    parameter_set(address, "sslkey", options->tls_key);
    parameter_set(address, "gssencmode", "disable");
    return SEQB_OK;
}

/* Keeps the parsed lists, because choosing a host replaces the parameters. */
static void hosts_find(struct postgres_address *address,
                       const struct seqb_backend_options *options)
{
    if (options->conninfo == NULL) {
        address->hosts = 1; /* a folder's name may contain a comma */
        return;
    }
    address->host_list = parameter_get(address, "host");
    address->hostaddr_list = parameter_get(address, "hostaddr");
    address->port_list = parameter_get(address, "port");
    address->hosts =
        list_count(address->hostaddr_list != NULL ? address->hostaddr_list
                                                  : address->host_list);
}

enum seqb_status
postgres_address_init(struct postgres_address *address,
                      const struct seqb_backend_options *options,
                      struct seqb_error *err)
{
    enum seqb_status status;

    *address = (struct postgres_address){.name = options->name};
    status = options->conninfo != NULL
                 ? conninfo_parse(address, options->conninfo, err)
                 : options_set(address, options, err);
    if (status != SEQB_OK)
        return status;
    hosts_find(address, options);
    parameter_set(address, "password", options->password);
    if (parameter_get(address, "application_name") == NULL)
        parameter_set(address, "application_name", "seqbroker");
    /* The engine itself looks for the primary. */
    parameter_set(address, "target_session_attrs", "any");
    return SEQB_OK;
}

/* --- one host --- */

/* If a password with '/' or '@' was not encoded in a URI, part of it is parsed
 * as the host. Then libpq is not called, because it would quote that text. */
static bool host_is_sane(const struct postgres_address *address)
{
    int64_t port;

    if (strchr(address->host, '@') != NULL && address->host[0] != '/')
        return false;
    return address->port[0] == '\0' ||
           (text_to_int64(address->port, strlen(address->port), &port) &&
            port > 0 && port <= PORT_MAX);
}

static void host_name(const struct postgres_address *address, char *where,
                      size_t size)
{
    const char *host = parameter_get(address, "host");
    const char *port = parameter_get(address, "port");

    if (!has_value(host))
        host = parameter_get(address, "hostaddr");
    (void)text_format(where, size, "%s (postgres %s%s%s)", address->name,
                      has_value(host) ? host : "by default",
                      port != NULL ? ":" : "", port != NULL ? port : "");
}

enum seqb_status postgres_address_choose(struct postgres_address *address,
                                         int i, char *where, size_t size,
                                         struct seqb_error *err)
{
    const struct {
        const char *keyword;
        const char *list;
        char *item;
        size_t size;
    } parts[] = {
        {"host", address->host_list, address->host, sizeof address->host},
        {"hostaddr", address->hostaddr_list, address->hostaddr,
         sizeof address->hostaddr},
        {"port", address->port_list, address->port, sizeof address->port},
    };
    bool fits = true;

    parameter_set(address, "hostaddr", ""); /* not that of the previous host */
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++) {
        if (parts[p].list == NULL)
            continue;
        fits =
            list_item(parts[p].list, i, parts[p].item, parts[p].size) && fits;
        parameter_set(address, parts[p].keyword, parts[p].item);
    }
    if (!fits || !host_is_sane(address))
        return error_set(err, SEQB_INVALID,
                         "%s: host %d of conninfo has no name or port that "
                         "can be; in a URI the letters @ / : of a password "
                         "are written %%40 %%2F %%3A",
                         address->name, i + 1);
    host_name(address, where, size);
    return SEQB_OK;
}

enum seqb_status
postgres_address_resolve(const struct postgres_address *address,
                         int64_t deadline_ms, const char *where,
                         struct addrinfo **out, struct seqb_error *err)
{
    const char *host = parameter_get(address, "host");
    const char *hostaddr = parameter_get(address, "hostaddr");
    const char *why;

    *out = NULL;
    if (host == NULL || strchr("/@", host[0]) != NULL ||
        (hostaddr != NULL && hostaddr[0] != '\0'))
        return SEQB_OK;
    why = lookup_host(host, 0, deadline_ms, out);
    if (why == NULL)
        return SEQB_OK;
    return error_set(err, SEQB_UNREACHABLE,
                     "%s: cannot connect: host not found: %s", where, why);
}

void postgres_address_text(const struct addrinfo *found, char *out, size_t size)
{
    if (found == NULL ||
        getnameinfo(found->ai_addr, found->ai_addrlen, out, (socklen_t)size,
                    NULL, 0, NI_NUMERICHOST) != 0)
        out[0] = '\0';
}

void postgres_address_pin(struct postgres_address *address,
                          const char *hostaddr)
{
    if (hostaddr[0] == '\0')
        return;
    (void)text_copy(address->hostaddr, sizeof address->hostaddr, hostaddr);
    parameter_set(address, "hostaddr", address->hostaddr);
}

void postgres_address_fini(struct postgres_address *address)
{
    PQconninfoFree(address->parsed);
}
