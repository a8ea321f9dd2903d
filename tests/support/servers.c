/* SPDX-License-Identifier: Apache-2.0 */
/* Private servers for tests. */
#include "support/servers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "support/folder.h"
#include "support/server_kind.h"
#include "support/test.h"

#define SERVERS_MAX 32
#define START_MS    180000 /* only a machine that is stuck takes this long */
#define PORT_FIRST  10000
#define PORT_LAST   32000 /* below the range of outgoing connections */

/* What ends with the program; only its own process may end it. */
static struct server *servers[SERVERS_MAX];
static pid_t owner;

/* A program that did not start, or NULL. Its next one is not tried: each try
 * may take START_MS. */
static const char *broken_program;

static int next_netns = -1; /* of the next server, and its address */
static const char *next_address = "127.0.0.1";

/* --- files and ports --- */

/* Programs that run at once must not choose the same port: each holds a name
 * for the ports it chose, which the system frees with the program. */
static bool port_reserve(int32_t port)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    /* A name that begins with a 0 is in no file system. */
    (void)text_format(name.sun_path + 1, sizeof name.sun_path - 1,
                      "seqbroker-test-port-%d", (int)port);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&name, sizeof name) == 0)
        return true;
    if (fd >= 0)
        close(fd);
    return false;
}

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
        if (port_reserve(next) && port_is_free(next))
            return next;
    }
    fail_msg("no free port on 127.0.0.1");
    return -1;
}

/* --- processes --- */

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

/* One that ended by itself says why. */
static void server_reap(struct server *server)
{
    int how;

    if (server->pid == 0)
        return;
    if (waitpid(server->pid, &how, WNOHANG) == server->pid) {
        print_error("%s ended (%#x):\n", server->kind->program, (unsigned)how);
        server_show_log(server);
    } else {
        kill(-server->pid, SIGKILL);
        while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    if (server->kind->killed != NULL)
        server->kind->killed(server);
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

bool program_find(const char *program, char out[static SERVER_PATH_SIZE])
{
    const char *path = getenv("PATH");
    char folders[SERVER_PATH_SIZE];
    const char *at = folders;

    if (strchr(program, '/') != NULL)
        return text_copy(out, SERVER_PATH_SIZE, program) &&
               access(out, X_OK) == 0;
    /* Debian keeps some servers where only root's PATH leads. */
    (void)text_format(folders, sizeof folders,
                      "%s:/usr/local/sbin:/usr/sbin:/sbin",
                      path != NULL ? path : "");
    while (*at != '\0') {
        const size_t length = strcspn(at, ":");

        if (text_format(out, SERVER_PATH_SIZE, "%.*s/%s", (int)length, at,
                        program) &&
            access(out, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

bool server_is_installed(const char *program)
{
    char path[SERVER_PATH_SIZE];

    return program_find(program, path);
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

/* In the child. Some servers refuse to run as root. */
static bool server_become(const struct server *server)
{
    const struct passwd *user;

    if (server->netns >= 0 && setns(server->netns, CLONE_NEWNET) != 0)
        return false;
    if (!server->kind->as_nobody || geteuid() != 0)
        return true;
    user = getpwnam("nobody");
    return user != NULL && setgroups(0, NULL) == 0 &&
           setgid(user->pw_gid) == 0 && setuid(user->pw_uid) == 0;
}

/* The folder belongs to who the server runs as. */
static void server_give_folder(const struct server *server)
{
    const struct passwd *user = getpwnam("nobody");

    if (!server->kind->as_nobody || geteuid() != 0)
        return;
    assert_non_null(user);
    assert_int_equal(chown(server->folder, user->pw_uid, user->pw_gid), 0);
}

/* In the child: becomes the server, or ends. */
static void server_exec(const struct server *server, const char *const *argv,
                        pid_t parent)
{
    sigset_t none;
    char path[SERVER_PATH_SIZE];
    char *words[SERVER_WORDS_MAX + 1];
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
    words[n] = NULL;
    if (!program_find(server->kind->program, path))
        _exit(127);
    words[0] = path; /* by which PostgreSQL finds its other programs */
    execv(path, words);
    _exit(127);
}

/* Its own group, so that what it starts ends with it. */
static void server_spawn(struct server *server, const char *const *argv)
{
    const pid_t parent = getpid();

    server->pid = fork();
    if (server->pid < 0) {
        server->pid = 0;
        fail_msg("cannot fork: %s", strerror(errno));
    }
    if (server->pid == 0) {
        (void)setpgid(0, 0);
        if (chdir(server->folder) != 0 || !server_become(server))
            _exit(125);
        server_exec(server, argv, parent);
    }
    (void)setpgid(server->pid, server->pid); /* whoever is first */
}

static void pause_shortly(void)
{
    nanosleep(&(struct timespec){0, 5000000}, NULL);
}

/* The server did not come up: fails the test with what the server said, and
 * leaves nothing of it behind. */
static void server_give_up(struct server *server, const char *why)
{
    const char *program = server->kind->program;

    server_show_log(server);
    if (server->is_new) {
        broken_program = program;
        server_free(server);
    }
    fail_msg("%s %s", program, why);
}

static void server_await(struct server *server)
{
    const int64_t until_ms = clock_now_ms() + START_MS;

    while (!server->kind->is_up(server)) {
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
    const char *argv[SERVER_WORDS_MAX + 1] = {NULL};
    struct server_words words = {.argv = argv};

    server_expect(server);
    assert_int_equal(server->pid, 0);
    server->kind->command(server, &words);
    for (size_t i = 0; server->args[i] != NULL; i++)
        server_word(&words, "%s", server->args[i]);
    server_spawn(server, argv);
    server_await(server);
}

void server_word(struct server_words *words, const char *format, ...)
{
    char *out = words->text + words->used;
    const size_t room = sizeof words->text - words->used;
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(out, room, format, args);
    va_end(args);
    assert_true(length >= 0 && (size_t)length < room);
    assert_true(words->count < SERVER_WORDS_MAX);
    words->used += (size_t)length + 1;
    words->argv[words->count++] = out;
}

/* Runs a command to its end in the server's folder, as the server's user. */
void server_run(struct server *server, const char *const *argv)
{
    const pid_t parent = getpid();
    const pid_t pid = fork();
    int status = -1;

    assert_true(pid >= 0);
    if (pid == 0) {
        struct server child = *server;
        const struct server_kind kind = {.program = argv[0],
                                         .as_nobody = server->kind->as_nobody};

        child.kind = &kind;
        if (chdir(server->folder) != 0 || !server_become(server))
            _exit(125);
        server_exec(&child, argv, parent);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        server_give_up(server, argv[0]);
}

void server_place(int netns, const char *address)
{
    next_netns = netns;
    next_address = address;
}

struct server *server_new(const struct server_kind *kind,
                          const char *const *args)
{
    struct server *server;

    if (broken_program != NULL && strcmp(broken_program, kind->program) == 0)
        fail_msg("%s did not start for an earlier test", kind->program);
    server = calloc(1, sizeof *server);
    assert_non_null(server);
    server->kind = kind;
    server->is_new = true;
    server->netns = next_netns;
    (void)text_copy(server->address, sizeof server->address, next_address);
    for (size_t i = 0; args != NULL && args[i] != NULL; i++) {
        assert_true(i < SERVER_ARGS_MAX);
        server->args[i] = args[i];
    }
    assert_true(folder_make(server->folder, sizeof server->folder));
    server_give_folder(server);
    (void)text_format(server->socket, sizeof server->socket, "%s/s",
                      server->folder);
    server_register(server);
    server->port = free_port();
    if (kind->prepare != NULL)
        kind->prepare(server);
    server_start(server);
    server->is_new = false;
    return server;
}

/* --- for all --- */

void server_forget_admin(struct server *server)
{
    if (server->admin != NULL)
        server->kind->forget(server);
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

/* Tests that share a server come here after its start has failed. */
void server_expect(const struct server *server)
{
    if (server == NULL)
        fail_msg("an earlier test could not start the server");
}

const char *server_address(const struct server *server)
{
    server_expect(server);
    return server->address;
}

int32_t server_port(const struct server *server)
{
    server_expect(server);
    return server->port;
}

const char *server_socket(const struct server *server)
{
    server_expect(server);
    return server->socket;
}

const char *server_folder(const struct server *server)
{
    server_expect(server);
    return server->folder;
}

void server_kill(struct server *server)
{
    server_expect(server);
    server_reap(server);
    server_forget_admin(server);
}

void server_shut_down(struct server *server, int signal)
{
    server_expect(server);
    assert_int_equal(kill(server->pid, signal), 0);
    while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    server->pid = 0;
    server_forget_admin(server);
}

void server_pause(struct server *server)
{
    int state;

    server_expect(server);
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

void block_sigpipe(void)
{
    sigset_t pipe;

    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, NULL);
}

int without_sigpipe(void **state)
{
    (void)state;
    block_sigpipe();
    return 0;
}
