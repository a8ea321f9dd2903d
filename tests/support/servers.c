/* SPDX-License-Identifier: Apache-2.0 */
/* Private servers for tests. */
#include "support/servers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "support/folder.h"

#define SERVERS_MAX 16
#define ARGS_MAX    16
#define START_MS    20000 /* only a machine that is stuck takes this long */
#define PORT_FIRST  10000
#define PORT_LAST   32000 /* below the range of outgoing connections */

struct server {
    pid_t pid; /* 0 when it does not run */
    int32_t port;
    char folder[32];
    char socket[64];
    const char *program;
    const char *args[ARGS_MAX + 1];
    redisContext *admin; /* NULL until first used after a start */
};

/* What ends with the program; only its own process may end it. */
static struct server *servers[SERVERS_MAX];
static pid_t owner;

/* --- files and ports --- */

static bool port_is_free(int32_t port)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_free = false;

    if (fd >= 0) {
        is_free =
            bind(fd, (const struct sockaddr *)&address, sizeof address) == 0;
        close(fd);
    }
    return is_free;
}

int32_t free_port(void)
{
    static int32_t next;

    /* Programs that run at once begin at different places. */
    if (next == 0)
        next =
            PORT_FIRST + (int32_t)(getpid() * 211LL % (PORT_LAST - PORT_FIRST));
    for (int tries = 0; tries < 1000; tries++) {
        next = next >= PORT_LAST ? PORT_FIRST : next + 1;
        if (port_is_free(next))
            return next;
    }
    fail_msg("no free port on 127.0.0.1");
    return -1;
}

/* --- processes --- */

static void server_reap(struct server *server)
{
    if (server->pid == 0)
        return;
    kill(server->pid, SIGKILL);
    while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    server->pid = 0;
}

static void servers_end(void)
{
    if (getpid() != owner)
        return;
    for (size_t i = 0; i < SERVERS_MAX; i++)
        server_free(servers[i]);
}

static void server_register(struct server *server)
{
    if (owner == 0) {
        owner = getpid();
        atexit(servers_end);
    }
    for (size_t i = 0; i < SERVERS_MAX; i++) {
        if (servers[i] == NULL) {
            servers[i] = server;
            return;
        }
    }
    fail_msg("more than %d servers at once", SERVERS_MAX);
}

bool server_is_installed(const char *program)
{
    const char *path = getenv("PATH");
    char file[512];

    while (path != NULL && *path != '\0') {
        const size_t length = strcspn(path, ":");

        if (text_format(file, sizeof file, "%.*s/%s", (int)length, path,
                        program) &&
            access(file, X_OK) == 0)
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

void server_require(const char *program)
{
    if (server_is_installed(program))
        return;
    if (getenv("CI") != NULL)
        fail_msg("%s is not installed: install it, this test needs it",
                 program);
    print_message("%s is not installed: skipped\n", program);
    skip();
}

/* In the child: becomes the server, or ends. */
static void server_exec(const struct server *server, const char *const *argv,
                        pid_t parent)
{
    sigset_t none;
    char *words[2 * ARGS_MAX];
    size_t n = 0;
    const int log = open("server.log", O_WRONLY | O_CREAT | O_APPEND, 0600);

    /* So that it ends even if the test program is killed. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || log < 0)
        _exit(126);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    for (; argv[n] != NULL; n++)
        words[n] = (char *)argv[n];
    for (size_t i = 0; server->args[i] != NULL; i++)
        words[n++] = (char *)server->args[i];
    words[n] = NULL;
    execvp(server->program, words);
    _exit(127);
}

static void server_spawn(struct server *server, const char *const *argv)
{
    const pid_t parent = getpid();

    server->pid = fork();
    if (server->pid < 0) {
        server->pid = 0;
        fail_msg("cannot fork: %s", strerror(errno));
    }
    if (server->pid == 0) {
        if (chdir(server->folder) != 0)
            _exit(125);
        server_exec(server, argv, parent);
    }
}

static void server_show_log(const struct server *server)
{
    char path[64];
    char line[512];
    FILE *file;

    (void)text_format(path, sizeof path, "%s/server.log", server->folder);
    file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        print_error("%s", line);
    if (file != NULL)
        (void)fclose(file);
}

static void pause_shortly(void)
{
    nanosleep(&(struct timespec){0, 5000000}, NULL);
}

/* --- redis-server --- */

static bool redis_answers(struct server *server)
{
    redisContext *context =
        redisConnectUnixWithTimeout(server->socket, (struct timeval){1, 0});
    redisReply *reply = NULL;
    bool is_up;

    if (context != NULL && context->err == 0)
        reply = redisCommand(context, "PING");
    is_up = reply != NULL && reply->type == REDIS_REPLY_STATUS;
    if (reply != NULL && reply->type == REDIS_REPLY_ERROR)
        is_up = strncmp(reply->str, "LOADING", 7) != 0; /* NOAUTH is up */
    if (reply != NULL)
        freeReplyObject(reply);
    if (context != NULL)
        redisFree(context);
    return is_up;
}

/* The server did not come up: fails the test with what the server said. */
static void server_give_up(const struct server *server, const char *why)
{
    server_show_log(server);
    fail_msg("%s %s", server->program, why);
}

static void server_await(struct server *server)
{
    const int64_t until_ms = clock_now_ms() + START_MS;

    while (!redis_answers(server)) {
        if (waitpid(server->pid, NULL, WNOHANG) == server->pid) {
            server->pid = 0;
            server_give_up(server, "ended while it started");
        }
        if (clock_now_ms() > until_ms)
            server_give_up(server, "does not answer");
        pause_shortly();
    }
}

void server_start(struct server *server)
{
    char port[16];
    const char *const argv[] = {server->program,
                                "--bind",
                                "127.0.0.1",
                                "--port",
                                port,
                                "--unixsocket",
                                server->socket,
                                "--dir",
                                server->folder,
                                "--save",
                                "",
                                "--daemonize",
                                "no",
                                NULL};

    assert_int_equal(server->pid, 0);
    (void)text_format(port, sizeof port, "%d", (int)server->port);
    server_spawn(server, argv);
    server_await(server);
}

struct server *server_redis(const char *const *args)
{
    struct server *server;

    server_require("redis-server");
    server = calloc(1, sizeof *server);
    assert_non_null(server);
    server->program = "redis-server";
    for (size_t i = 0; args != NULL && args[i] != NULL; i++) {
        assert_true(i < ARGS_MAX);
        server->args[i] = args[i];
    }
    (void)text_copy(server->folder, sizeof server->folder, "/tmp/seqb-XXXXXX");
    assert_non_null(mkdtemp(server->folder));
    (void)text_format(server->socket, sizeof server->socket, "%s/s",
                      server->folder);
    server_register(server);
    server->port = free_port();
    server_start(server);
    return server;
}

/* --- for all --- */

static void server_forget_admin(struct server *server)
{
    if (server->admin != NULL)
        redisFree(server->admin);
    server->admin = NULL;
}

void server_free(struct server *server)
{
    if (server == NULL)
        return;
    for (size_t i = 0; i < SERVERS_MAX; i++) {
        if (servers[i] == server)
            servers[i] = NULL;
    }
    server_reap(server);
    server_forget_admin(server);
    folder_remove(server->folder);
    free(server);
}

int32_t server_port(const struct server *server)
{
    return server->port;
}

const char *server_socket(const struct server *server)
{
    return server->socket;
}

const char *server_folder(const struct server *server)
{
    return server->folder;
}

void server_kill(struct server *server)
{
    server_reap(server);
    server_forget_admin(server);
}

void server_pause(struct server *server)
{
    int state;

    assert_int_equal(kill(server->pid, SIGSTOP), 0);
    assert_int_equal(waitpid(server->pid, &state, WUNTRACED), server->pid);
    assert_true(WIFSTOPPED(state));
}

void server_resume(struct server *server)
{
    int state;

    assert_int_equal(kill(server->pid, SIGCONT), 0);
    assert_int_equal(waitpid(server->pid, &state, WCONTINUED), server->pid);
    assert_true(WIFCONTINUED(state));
}

static redisContext *server_admin(struct server *server)
{
    if (server->admin == NULL)
        server->admin = redisConnectUnix(server->socket);
    assert_non_null(server->admin);
    if (server->admin->err != 0)
        fail_msg("%s: %s", server->program, server->admin->errstr);
    return server->admin;
}

static redisReply *reply_check(const struct server *server, const char *asked,
                               redisReply *reply)
{
    if (reply == NULL)
        fail_msg("%s: %s: %s", server->program, asked, server->admin->errstr);
    else if (reply->type == REDIS_REPLY_ERROR)
        fail_msg("%s: %s: %s", server->program, asked, reply->str);
    return reply;
}

redisReply *server_ask(struct server *server, const char *format, ...)
{
    redisReply *reply;
    va_list args;

    va_start(args, format);
    reply = redisvCommand(server_admin(server), format, args);
    va_end(args);
    return reply_check(server, format, reply);
}

void server_tell(struct server *server, const char *format, ...)
{
    redisReply *reply;
    va_list args;

    va_start(args, format);
    reply = redisvCommand(server_admin(server), format, args);
    va_end(args);
    freeReplyObject(reply_check(server, format, reply));
}

void server_tell_words(struct server *server, const char *const *words)
{
    const char *argv[ARGS_MAX];
    int n = 0;

    for (; words[n] != NULL; n++) {
        assert_true(n < ARGS_MAX);
        argv[n] = words[n];
    }
    freeReplyObject(
        reply_check(server, words[0],
                    redisCommandArgv(server_admin(server), n, argv, NULL)));
}

void block_sigpipe(void)
{
    sigset_t pipe;

    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, NULL);
}
