/* SPDX-License-Identifier: Apache-2.0 */
/* A child in which a signal arrives after any instruction of a call. */
#pragma once

/*
 * Runs `run` in a child that is traced. The child handles SIGUSR1, and ends at
 * SIGUSR2, with EXIT_SUCCESS if nothing was wrong. It calls the tested function
 * again and again, between two raises of SIGSTOP. SIGUSR1 arrives `stride`
 * instructions later each time, until the function has no more instructions;
 * then SIGUSR2 arrives.
 */
void expect_nothing_wrong_in(void (*run)(void), int stride);

/* For the child. */
void handle_signal(int signal, void (*handler)(int signal));
