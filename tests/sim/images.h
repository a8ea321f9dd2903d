/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brokers that are resumed from an image of their memory, although the original
 * continued after the image was taken. All numbers in their rings are recorded
 * at once, as issued by the original. The resumed broker continues with the
 * same numbers, and its wall clock leaps.
 */
#pragma once

#include "run.h"

/* From now on, resumes brokers as drawn from the scene's seed. */
void images_schedule(struct run *run);

/* Whether a call's result is not judged, because it began before the broker
 * could know that it was resumed. */
bool images_hide(const struct broker *broker, int64_t begun_us);
