/* SPDX-License-Identifier: Apache-2.0 */
/* Making the namespace, and ip(8) and nft(8) inside of it. */
#include "support/netns.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/text.h"
#include "support/servers.h"
#include "support/test.h"

#define COMMAND_SIZE 2048
#define OWN_NS       "/proc/thread-self/ns/net"

/* 198.18.0.0/15 is kept for tests of networks; each program has four addresses
 * of its lower half, by its process id. lan.c has the upper half. */
#define PAIRS 16384

struct netns {
    int fd;
    char interface[16]; /* outside; its other end is inside */
    char address[16];   /* inside */
};

/* The rules hold sets of ports; netns_set moves a port between them. */
static const char rules[] =
    "table inet seqb {\n"
    "  set dropped { type inet_service; }\n"
    "  set rejected { type inet_service; }\n"
    "  set unreachable { type inet_service; }\n"
    "  chain incoming {\n"
    "    type filter hook input priority 0;\n"
    "    tcp dport @dropped drop\n"
    "    tcp dport @rejected reject with tcp reset\n"
    "    tcp dport @unreachable reject with icmp port-unreachable\n"
    "  }\n"
    "  chain outgoing {\n"
    "    type filter hook output priority 0;\n"
    "    tcp sport @dropped drop\n"
    "  }\n"
    "}";

static const char *const sets[] = {
    [NETNS_DROP] = "dropped",
    [NETNS_REJECT] = "rejected",
    [NETNS_UNREACHABLE] = "unreachable",
};

void netns_require(void)
{
    server_require("ip");
    server_require("nft");
    if (geteuid() == 0)
        return;
    if (getenv("CI") != NULL)
        fail_msg("only root makes network namespaces: run this test as root");
    print_message("only root makes network namespaces: skipped\n");
    skip();
}

/* In the child: does not return. */
static void command_exec(const char *command, int ns)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (ns >= 0 && setns(ns, CLONE_NEWNET) != 0) {
        perror("setns");
        _exit(126);
    }
    execl("/bin/sh", "sh", "-ec", command, (char *)NULL);
    _exit(127);
}

void netns_run(int ns, const char *command)
{
    int status = -1;
    const pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0)
        command_exec(command, ns);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    if (status != 0)
        fail_msg("network namespace: '%s' failed", command);
}

int netns_make(void)
{
    const int home = open(OWN_NS, O_RDONLY | O_CLOEXEC);
    int made;

    assert_true(home >= 0);
    if (unshare(CLONE_NEWNET) != 0)
        fail_msg("cannot make a network namespace: %s", strerror(errno));
    made = open(OWN_NS, O_RDONLY | O_CLOEXEC);
    assert_int_equal(setns(home, CLONE_NEWNET), 0);
    close(home);
    assert_true(made >= 0);
    return made;
}

/* Address `i` of this program's four. */
static void address_format(char out[16], unsigned i)
{
    const unsigned at = (unsigned)getpid() % PAIRS * 4 + i;

    (void)text_format(out, 16, "198.18.%u.%u", at >> 8, at & 255);
}

static void inside_set_up(const struct netns *netns)
{
    char command[COMMAND_SIZE];

    assert_true(text_format(command, sizeof command,
                            "ip link add eth0 type veth peer name %s netns %d\n"
                            "ip address add %s/30 dev eth0\n"
                            "ip link set eth0 up\n"
                            "nft '%s'",
                            netns->interface, (int)getpid(), netns->address,
                            rules));
    netns_run(netns->fd, command);
}

static void outside_set_up(const struct netns *netns)
{
    char command[COMMAND_SIZE];
    char address[16];

    address_format(address, 1);
    assert_true(text_format(command, sizeof command,
                            "ip address add %s/30 dev %s; ip link set %s up",
                            address, netns->interface, netns->interface));
    netns_run(-1, command);
}

struct netns *netns_new(void)
{
    struct netns *netns = calloc(1, sizeof *netns);

    assert_non_null(netns);
    (void)text_format(netns->interface, sizeof netns->interface, "seqb%d",
                      (int)getpid());
    address_format(netns->address, 2);
    netns->fd = netns_make();
    inside_set_up(netns);
    outside_set_up(netns);
    return netns;
}

void netns_free(struct netns *netns)
{
    char command[COMMAND_SIZE];

    if (netns == NULL)
        return;
    (void)text_format(command, sizeof command, "ip link delete %s",
                      netns->interface);
    netns_run(-1, command);
    close(netns->fd);
    free(netns);
}

const char *netns_address(const struct netns *netns)
{
    return netns->address;
}

/* A socket stays where it was made, whatever its thread does later. */
int netns_socket(const struct netns *netns, int domain, int type)
{
    int home;
    int made = -1;

    if (netns == NULL)
        return socket(domain, type, 0);
    home = open(OWN_NS, O_RDONLY | O_CLOEXEC);
    if (home < 0)
        return -1;
    if (setns(netns->fd, CLONE_NEWNET) == 0)
        made = socket(domain, type, 0);
    if (setns(home, CLONE_NEWNET) != 0)
        abort(); /* all that this thread opens would be in there */
    close(home);
    return made;
}

void netns_set(const struct netns *netns, int32_t port, enum netns_rule rule)
{
    char command[COMMAND_SIZE] = "nft '";

    /* Added first, so that what is deleted is there. */
    for (size_t i = NETNS_DROP; i < sizeof sets / sizeof sets[0]; i++) {
        (void)text_append(command, sizeof command,
                          "add element inet seqb %s { %d }; ", sets[i],
                          (int)port);
        if (i != rule)
            (void)text_append(command, sizeof command,
                              "delete element inet seqb %s { %d }; ", sets[i],
                              (int)port);
    }
    assert_true(text_append(command, sizeof command, "'"));
    netns_run(netns->fd, command);
}
