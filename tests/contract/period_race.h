/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of periods that are made and purged at the same time, for engines
 * whose stores hold both. */
#pragma once

#include <seqbroker/backend.h>

#include "support/test.h"

/*
 * Some brokers take values of the last few periods of a counter, of those that
 * are over as well, while another one ends one period after the other without
 * waiting between noting and deleting: no value of a period may ever come
 * twice. The options lead to a store that holds nothing.
 */
void period_race(const struct seqb_backend_ops *ops,
                 const struct seqb_backend_options *options);
