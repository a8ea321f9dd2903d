/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of periods that are created and purged at the same time, for engines
 * that support both. */
#pragma once

#include <seqbroker/backend.h>

#include "support/test.h"

/*
 * Some brokers take values of the last few periods of a counter, including
 * periods that are over. Meanwhile another one ends one period after another,
 * without waiting between noting and deleting. No value of a period may be
 * taken twice. `options` must lead to an empty store.
 */
void period_race(const struct seqb_backend_ops *ops,
                 const struct seqb_backend_options *options);
