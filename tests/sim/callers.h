/* SPDX-License-Identifier: Apache-2.0 */
/* Callers who ask a broker for numbers, according to the scene's load. */
#pragma once

#include "run.h"

/* Starts the callers. They end when the broker is killed or closed, or when the
 * run is over. */
void callers_start(struct broker *broker);
