/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of events: the lines of the log as server-sent events, first the kept
 * lines, then each new one. A stream buffers no line: it reads the log when its
 * socket has taken what was sent before. The front header of this folder.
 */
#pragma once

struct event_base;
struct streams;

/* Starts with no stream. NULL if memory or descriptors are short. */
struct streams *streams_open(struct event_base *base);

/* All streams must have been aborted. NULL is allowed. */
void streams_close(struct streams *streams);
