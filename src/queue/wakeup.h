/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that waits until it is woken or stopped. Private to this folder. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct wakeup {
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    bool is_woken;
    bool is_stopping;
};

void wakeup_init(struct wakeup *wakeup);
void wakeup_fini(struct wakeup *wakeup);

/* Any thread. */
void wakeup_set(struct wakeup *wakeup);
void wakeup_stop(struct wakeup *wakeup);

/* Waits until `usual_ms`; once it is woken, until `woken_ms` instead. False
 * when the thread is to stop. */
bool wakeup_wait(struct wakeup *wakeup, int64_t woken_ms, int64_t usual_ms);
