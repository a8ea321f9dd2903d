/* SPDX-License-Identifier: Apache-2.0 */
/* To be preloaded into a server: its date, and those of its files, are as many
 * seconds behind as SEQB_BEHIND_S says. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>

#define PUBLIC __attribute__((visibility("default")))

/* Looked up here, not when the program starts: others may ask before that. */
#define REAL(call) ((__typeof__(&(call)))dlsym(RTLD_NEXT, #call))

static time_t behind_s(void)
{
    const char *text = getenv("SEQB_BEHIND_S");

    return text == NULL ? 0 : (time_t)atoll(text);
}

PUBLIC int clock_gettime(clockid_t clock, struct timespec *now)
{
    static __typeof__(&clock_gettime) real;
    int result;

    if (real == NULL)
        real = REAL(clock_gettime);
    result = real(clock, now);
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
        now->tv_sec -= behind_s();
    return result;
}

PUBLIC time_t time(time_t *out)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (out != NULL)
        *out = now.tv_sec;
    return now.tv_sec;
}

/* Until then by our clock. Else each wait of the server would be over before it
 * began, and would be made again at once. */
PUBLIC int pthread_cond_timedwait(pthread_cond_t *condition,
                                  pthread_mutex_t *mutex,
                                  const struct timespec *until)
{
    const struct timespec real = {until->tv_sec + behind_s(), until->tv_nsec};

    return pthread_cond_clockwait(condition, mutex, CLOCK_REALTIME, &real);
}

PUBLIC int stat64(const char *path, struct stat64 *out)
{
    static __typeof__(&stat64) real;
    int result;

    if (real == NULL)
        real = REAL(stat64);
    result = real(path, out);
    if (result == 0)
        out->st_ctim.tv_sec -= behind_s();
    return result;
}
