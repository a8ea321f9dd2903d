/* SPDX-License-Identifier: Apache-2.0 */
/* The check before a restart in place. While calls fail it may refuse any
 * program, but not permit one that refuses to start. */
#include <fcntl.h>
#include <unistd.h>

#include "daemon/listeners/inherited.h"
#include "daemon/log/log.h"
#include "daemon/restart.h"
#include "support/test.h"
#include "sweep.h"

/* What a check with that program says. */
static bool is_possible(char *program, const struct inherited *lent)
{
    char *argv[] = {program, NULL};
    struct restart_checker *checker = restart_check(argv, lent);
    enum restart_verdict verdict = RESTART_REFUSED;

    if (checker != NULL)
        while ((verdict = restart_evaluate(checker)) == RESTART_UNDECIDED)
            (void)usleep(1000);
    return verdict == RESTART_POSSIBLE;
}

static void live(struct sweep *sweep)
{
    static const struct log_options quiet = {LOG_LOGFMT, SEQB_LOG_ERROR};
    static char starts[] = "/bin/true";
    static char refuses[] = "/bin/false";
    const bool was_suspended = faults_suspend(true);
    struct inherited lent = {.count = 1};

    log_open(&quiet);
    lent.sockets[0].fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    faults_suspend(was_suspended);
    if (!is_possible(starts, &lent) && !sweep->is_faulty)
        sweep_fail("a restart is refused");
    if (is_possible(refuses, &lent))
        sweep_fail("a restart of a program that refuses it is permitted");
    faults_suspend(true);
    (void)close(lent.sockets[0].fd);
    faults_suspend(was_suspended);
}

static const struct sweep_scene checks = {
    .before = live, .during = live, .after = live};

TEST(memory_of_a_restart)
{
    sweep_run(&checks, FAULTS_MEMORY);
}

TEST(calls_of_a_restart)
{
    sweep_run(&checks, FAULTS_CALLS);
}
