/* SPDX-License-Identifier: Apache-2.0 */
/* Two kinds of server, found beside this program. */
#include "bench/peers.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/die.h"
#include "bench/resident.h"
#include "bench/wire.h"
#include "platform/text.h"
#include "support/server_kind.h"
#include "support/server_redis.h"

/* This program is in the build folder's "tests", seqbrokerd above it. */
static void path_extend(void)
{
    char self[1024];
    char path[8192];
    const char *old = getenv("PATH");
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    if (length < 0 || old == NULL)
        die_of_errno("/proc/self/exe or PATH");
    self[length] = '\0';
    (void)dirname(self);
    if (strncmp(old, self, strlen(self)) == 0)
        return;
    if (!text_format(path, sizeof path, "%s:%s/..:%s", self, self, old) ||
        setenv("PATH", path, 1) != 0)
        die_of_errno("PATH");
}

static void seqbrokerd_command(struct server *server,
                               struct server_words *words)
{
    server_word(words, "seqbrokerd");
    server_word(words, "--state-dir");
    server_word(words, "%s/state", server->folder);
    server_word(words, "--listen");
    server_word(words, "127.0.0.1:%d", (int)server->port);
    server_word(words, "--socket");
    server_word(words, "%s", server->socket);
}

static void constant_command(struct server *server, struct server_words *words)
{
    server_word(words, "constant");
    server_word(words, "%d", (int)server->port);
    server_word(words, "%s", server->socket);
}

static const struct server_kind seqbrokerd_kind = {
    .program = "seqbrokerd",
    .command = seqbrokerd_command,
    .is_up = redis_answers,
    .forget = redis_forget,
};

static bool is_anyhow(struct server *server)
{
    (void)server;
    return true;
}

static const struct server_kind starting_kind = {
    .program = "seqbrokerd",
    .command = seqbrokerd_command,
    .is_up = is_anyhow,
    .forget = redis_forget,
};

static const struct server_kind constant_kind = {
    .program = "constant",
    .command = constant_command,
    .is_up = redis_answers,
    .forget = redis_forget,
};

struct server *peer_seqbrokerd(const char *topology)
{
    const char *const args[] = {"--config", topology, NULL};

    path_extend();
    return server_new(&seqbrokerd_kind, args);
}

struct server *peer_seqbrokerd_starting(const char *topology)
{
    const char *const args[] = {"--config", topology, NULL};

    path_extend();
    return server_new(&starting_kind, args);
}

struct server *peer_constant(void)
{
    path_extend();
    return server_new(&constant_kind, NULL);
}

double peer_resident_mb(const struct server *server)
{
    return resident_mb(server->pid);
}

double peer_peak_mb(const struct server *server)
{
    return peak_mb(server->pid);
}

void peer_peak_reset(const struct server *server)
{
    if (!peak_reset(server->pid))
        die_of_errno("clear_refs");
}

double peer_cpu_s(const struct server *server)
{
    return cpu_s(server->pid);
}

void peer_tcp(const struct server *server, char out[static PEER_ADDRESS_SIZE])
{
    (void)text_format(out, PEER_ADDRESS_SIZE, "tcp:%d",
                      (int)server_port(server));
}

void peer_unix(const struct server *server, char out[static PEER_ADDRESS_SIZE])
{
    (void)text_format(out, PEER_ADDRESS_SIZE, "unix:%s", server_socket(server));
}
