/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary folders of tests. */
#pragma once

/* Removes a folder and all that is in it; what cannot be, stays. */
void folder_remove(const char *path);
