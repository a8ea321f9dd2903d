/* SPDX-License-Identifier: Apache-2.0 */
/* Signals, and ends that nothing delays; see signals.h. */
#include "daemon/signals.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "daemon/log/log.h"

static sigset_t hangup_only(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    return set;
}

sigset_t signals_that_stop(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    return set;
}

void signals_shield(void)
{
    const sigset_t hangup = hangup_only();

    signal(SIGPIPE, SIG_IGN);
    signal(SIGUSR1, SIG_IGN);
    signal(SIGUSR2, SIG_IGN);
    signal(SIGALRM, SIG_IGN);
    /* Blocked instead of ignored, so that it stays pending for the thread that
     * answers it. */
    pthread_sigmask(SIG_BLOCK, &hangup, NULL);
}

bool signals_thread(pthread_t *out, void *(*run)(void *argument),
                    void *argument)
{
    sigset_t all;
    sigset_t before;
    bool is_started = false;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    is_started = pthread_create(out, NULL, run, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}

/* A thread instead of a handler: a handler could not log, and would interrupt
 * other threads. */
static void *hangup_run(void *argument)
{
    const struct signals_answers *answers = argument;
    const sigset_t hangup = hangup_only();
    int number = 0;

    while (sigwait(&hangup, &number) == 0)
        answers->hangup(answers->context);
    return NULL;
}

bool signals_answer(const struct signals_answers *answers)
{
    pthread_t thread;

    if (!signals_thread(&thread, hangup_run, (void *)answers))
        return false;
    pthread_detach(thread);
    return true;
}

/* --- an end that nothing delays --- */

/* Written before the signal can come, and read by the handlers. */
static struct {
    struct sigaction alarm;
    int code;
    const char *why; /* NULL: there is nothing to say */
    int64_t opening_ms;
    volatile sig_atomic_t asked; /* signals received while the broker opens */
    int64_t asked_ms;            /* when the first of them came */
    struct sigaction term, interrupt; /* the server's handlers */
} ending;

/* Ignores a SIGALRM that another process sends. */
static void on_alarm(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    if (info->si_code != SI_KERNEL)
        return;
    if (ending.why != NULL)
        log_last_words(ending.why);
    _exit(ending.code);
}

static void alarm_prepare(void)
{
    ending.alarm =
        (struct sigaction){.sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO};
    sigemptyset(&ending.alarm.sa_mask);
}

static void alarm_set(int64_t ms)
{
    const int64_t rest_ms = ms > 0 ? ms : 0;
    const struct itimerval timer = {
        .it_value = {(time_t)(rest_ms / 1000),
                     (suseconds_t)(rest_ms % 1000) * 1000 + 1},
    };

    sigaction(SIGALRM, &ending.alarm, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void on_asked(int number)
{
    (void)number;
    ending.asked++;
    if (ending.asked > 1)
        _exit(1);
    ending.asked_ms = daemon_now_ms();
    alarm_set(ending.opening_ms);
}

void signals_begin_opening(int64_t ms)
{
    const struct sigaction action = {.sa_handler = on_asked,
                                     .sa_mask = signals_that_stop(),
                                     .sa_flags = SA_RESTART};

    alarm_prepare();
    ending.opening_ms = ms;
    ending.asked = 0;
    ending.asked_ms = 0;
    ending.code = 0;
    ending.why = "seqbrokerd: stopped before its stores had answered\n";
    sigaction(SIGTERM, &action, &ending.term);
    sigaction(SIGINT, &action, &ending.interrupt);
}

void signals_end_opening(void)
{
    sigaction(SIGTERM, &ending.term, NULL);
    sigaction(SIGINT, &ending.interrupt, NULL);
    signals_end_later();
    if (ending.asked > 0)
        raise(SIGTERM);
}

/* After the opening no handler writes it. */
int64_t signals_asked_ms(void)
{
    return ending.asked_ms;
}

void signals_end_within(int64_t ms)
{
    alarm_prepare();
    ending.code = 1;
    ending.why = "seqbrokerd: ended while a store did not answer: see "
                 "stop_timeout; numbers that could not be kept are a gap\n";
    alarm_set(ms);
}

void signals_finish_within(int64_t ms)
{
    alarm_prepare();
    ending.code = 0;
    ending.why = NULL;
    alarm_set(ms);
}

void signals_end_later(void)
{
    const struct itimerval none = {.it_interval = {0}};

    setitimer(ITIMER_REAL, &none, NULL);
    signal(SIGALRM, SIG_IGN);
}
