/* SPDX-License-Identifier: Apache-2.0 */
/* Those who ask a broker for numbers, as the scene's load says. */
#pragma once

#include "run.h"

/* Callers, until the broker is killed or closed or the run is over. */
void callers_start(struct broker *broker);
