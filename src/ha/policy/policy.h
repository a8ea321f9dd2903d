/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decisions: which partition may be asked, what a reply means, what is
 * refused, when a sequence runs out. Pure: no lock, no clock, no I/O. The front
 * header of this folder.
 */
#pragma once

#include "ha/policy/elsewhere.h"
#include "ha/policy/fence.h"
#include "ha/policy/forecast.h"
#include "ha/policy/lessors.h"
#include "ha/policy/order.h"
#include "ha/policy/pace.h"
#include "ha/policy/pool.h"
#include "ha/policy/refusal.h"
#include "ha/policy/round_robin.h"
