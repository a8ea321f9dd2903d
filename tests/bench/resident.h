/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory a process holds. */
#pragma once

#include <sys/types.h>

/* Resident memory in MB; 0: this process; -1 if it cannot be read. */
double resident_mb(pid_t pid);
