/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brokers that are resumed from an image of their memory, while the original
 * went on meanwhile: all that their rings hold is heard at once, as handed out
 * by the original. The broker goes on with the same, and its date leaps.
 */
#pragma once

#include "run.h"

/* Draws them from the scene's seed, from now on. */
void images_schedule(struct run *run);

/* Whether what a call is answered is not judged: it began before the broker had
 * to know. */
bool images_hide(const struct broker *broker, int64_t begun_us);
