/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection to one store: the engine behind a deadline watchdog and the
 * gate of its endpoint, the store's identity and clock. No pool, no thread but
 * the watchdog's. The front header of this folder.
 */
#pragma once

#include "store/claim.h"
#include "store/claim_batch.h"
#include "store/compare.h"
#include "store/connection.h"
#include "store/endpoint.h"
#include "store/granted.h"
#include "store/layout.h"
#include "store/options.h"
#include "store/secret.h"
#include "store/store_clock.h"
#include "store/term.h"
#include "store/value.h"
#include "store/watchdog.h"
