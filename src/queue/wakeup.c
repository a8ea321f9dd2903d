/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/wakeup.h"

#include "platform/thread.h"

void wakeup_init(struct wakeup *wakeup)
{
    *wakeup = (struct wakeup){.is_woken = false};
    pthread_mutex_init(&wakeup->lock, NULL);
    condition_init(&wakeup->changed);
}

void wakeup_fini(struct wakeup *wakeup)
{
    pthread_cond_destroy(&wakeup->changed);
    pthread_mutex_destroy(&wakeup->lock);
}

static void raise_flag(struct wakeup *wakeup, bool *flag)
{
    pthread_mutex_lock(&wakeup->lock);
    *flag = true;
    pthread_cond_signal(&wakeup->changed);
    pthread_mutex_unlock(&wakeup->lock);
}

void wakeup_set(struct wakeup *wakeup)
{
    raise_flag(wakeup, &wakeup->is_woken);
}

void wakeup_stop(struct wakeup *wakeup)
{
    raise_flag(wakeup, &wakeup->is_stopping);
}

bool wakeup_wait(struct wakeup *wakeup, int64_t woken_ms, int64_t usual_ms)
{
    bool goes_on = true;

    pthread_mutex_lock(&wakeup->lock);
    while (!wakeup->is_stopping && goes_on)
        goes_on = condition_wait(&wakeup->changed, &wakeup->lock,
                                 wakeup->is_woken ? woken_ms : usual_ms);
    wakeup->is_woken = false;
    goes_on = !wakeup->is_stopping;
    pthread_mutex_unlock(&wakeup->lock);
    return goes_on;
}
