/* SPDX-License-Identifier: Apache-2.0 */
#include "interrupted.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

/* More than the calls have without a sanitizer, by their strides. */
enum { ROUNDS = 250 };

void handle_signal(int signal, void (*handler)(int))
{
    const struct sigaction action = {.sa_handler = handler};

    if (sigaction(signal, &action, NULL) != 0)
        _exit(EXIT_FAILURE);
}

/* Returns the signal that the child stops at next; 0 if it ended well. */
static int go_on(pid_t child, enum __ptrace_request how, long signal)
{
    int status;

    assert_int_equal(ptrace(how, child, NULL, signal), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSTOPPED(status))
        return WSTOPSIG(status);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), EXIT_SUCCESS);
    return 0;
}

/* False if the child is at its second stop before so many instructions. */
static bool interrupt_after(pid_t child, int steps)
{
    for (int i = 0; i < steps; i++)
        if (go_on(child, PTRACE_SINGLESTEP, 0) == SIGSTOP)
            return false;
    assert_int_equal(go_on(child, PTRACE_CONT, SIGUSR1), SIGSTOP);
    return true;
}

void expect_nothing_wrong_in(void (*run)(void), int stride)
{
    const pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
            run();
        _exit(EXIT_FAILURE);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSTOPPED(status));
    assert_int_equal(ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_EXITKILL),
                     0);
    for (int round = 0;
         round < ROUNDS && interrupt_after(child, round * stride); round++)
        assert_int_equal(go_on(child, PTRACE_CONT, 0), SIGSTOP);
    assert_int_equal(go_on(child, PTRACE_CONT, SIGUSR2), 0);
}
