/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks, their stacks, and the heap of what comes when. */
#include "world.h"

#include <assert.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#define STACK_SIZE ((size_t)256 * 1024)
#define GUARD_SIZE 4096
#define BEGIN_US   (1000 * SECOND) /* 0 is no time, to some */
#define WALL_MS                                                                \
    INT64_C(1795219200000) /* at world time 0: 2026-11-21T00:00Z               \
                            */

struct task {
    ucontext_t context; /* of its begin */
    jmp_buf place;      /* where it goes on */
    void *stack;
    void *fake_stack; /* of AddressSanitizer */
    void *(*run)(void *argument);
    void *argument;
    const void *waits_for; /* NULL: for time, or for its turn */
    uint64_t ticket;       /* of the wake-up that counts; older ones are void */
    bool is_late;          /* woken by time, not by somebody */
    bool has_begun;
    bool is_done;
    bool is_joined;
    const struct world_clock *clock; /* NULL: the right one */
    struct task *next;               /* of those that are free */
};

/* What comes at a time: a task wakes, or else a function is called. */
struct moment {
    int64_t at_us;
    uint64_t order; /* of two at one time, the elder comes first */
    struct task *task;
    uint64_t ticket;
    void (*act)(void *context);
    void *context;
};

/* There is one, as there is one clock. */
static struct {
    int64_t now_us;
    uint64_t order;
    int32_t preempt;
    struct random random;
    struct moment *heap;
    size_t count;
    size_t capacity;
    struct task **ready;
    size_t ready_count;
    struct task **waiting; /* for somebody, with or without a time */
    size_t waiting_count;
    size_t living;
    size_t capacity_of_tasks;
    struct task *current;
    struct task *free;
    jmp_buf scheduler;
    void *fake_stack; /* of the scheduler, as of a task */
    const void *stack;
    size_t stack_size;
} world;

static void *grown(void *memory, size_t count, size_t size)
{
    memory = realloc(memory, count * size);
    if (memory == NULL)
        abort();
    return memory;
}

/* --- the heap --- */

static bool comes_before(const struct moment *a, const struct moment *b)
{
    return a->at_us < b->at_us || (a->at_us == b->at_us && a->order < b->order);
}

static void heap_push(struct moment moment)
{
    size_t i = world.count++;

    if (world.count > world.capacity) {
        world.capacity = world.capacity * 2 + 64;
        world.heap = grown(world.heap, world.capacity, sizeof *world.heap);
    }
    moment.order = world.order++;
    for (; i > 0 && comes_before(&moment, &world.heap[(i - 1) / 2]);
         i = (i - 1) / 2)
        world.heap[i] = world.heap[(i - 1) / 2];
    world.heap[i] = moment;
}

static struct moment heap_pop(void)
{
    const struct moment top = world.heap[0];
    const struct moment last = world.heap[--world.count];
    size_t i = 0;

    for (;;) {
        size_t child = 2 * i + 1;

        if (child + 1 < world.count &&
            comes_before(&world.heap[child + 1], &world.heap[child]))
            child++;
        if (child >= world.count || !comes_before(&world.heap[child], &last))
            break;
        world.heap[i] = world.heap[child];
        i = child;
    }
    world.heap[i] = last;
    return top;
}

void world_at(int64_t at_us, void (*act)(void *context), void *context)
{
    heap_push((struct moment){.at_us = at_us, .act = act, .context = context});
}

/* --- tasks --- */

/* What AddressSanitizer wants to know of a switch, from its header
 * common_interface_defs.h; NULL where it is not. */
__attribute__((weak)) void __sanitizer_start_switch_fiber(void **fake_stack,
                                                          const void *stack,
                                                          size_t size);
__attribute__((weak)) void __sanitizer_finish_switch_fiber(void *fake_stack,
                                                           const void **stack,
                                                           size_t *size);

static void switch_begins(void **fake_stack, const void *stack, size_t size)
{
    if (__sanitizer_start_switch_fiber != NULL)
        __sanitizer_start_switch_fiber(fake_stack, stack, size);
}

static void switch_ends(void *fake_stack, const void **stack, size_t *size)
{
    if (__sanitizer_finish_switch_fiber != NULL)
        __sanitizer_finish_switch_fiber(fake_stack, stack, size);
}

static void task_run(void)
{
    struct task *task = world.current;

    switch_ends(NULL, &world.stack, &world.stack_size);
    (void)task->run(task->argument);
    task->is_done = true;
    if (task->is_joined)
        world_wake(task, true);
    switch_begins(NULL, world.stack, world.stack_size);
    _longjmp(world.scheduler, 1);
}

static struct task *task_new(void)
{
    struct task *task = world.free;

    if (task != NULL) {
        world.free = task->next;
        return task;
    }
    task = grown(NULL, 1, sizeof *task);
    task->stack =
        mmap(NULL, STACK_SIZE + GUARD_SIZE, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (task->stack == MAP_FAILED ||
        mprotect(task->stack, GUARD_SIZE, PROT_NONE) != 0)
        abort();
    return task;
}

static void task_free(struct task *task)
{
    task->next = world.free;
    world.free = task;
}

static void make_ready(struct task *task)
{
    task->ticket++; /* what would have woken it is void */
    task->waits_for = NULL;
    world.ready[world.ready_count++] = task;
}

/* Apart, since getcontext() may return twice as far as compilers know. */
static __attribute__((noinline)) void context_init(ucontext_t *context,
                                                   void *stack)
{
    getcontext(context);
    context->uc_stack.ss_sp = (char *)stack + GUARD_SIZE;
    context->uc_stack.ss_size = STACK_SIZE;
    makecontext(context, task_run, 0);
}

struct task *world_spawn(void *(*run)(void *argument), void *argument,
                         bool is_joined)
{
    struct task *task = task_new();

    if (++world.living > world.capacity_of_tasks) {
        world.capacity_of_tasks = world.living * 2;
        world.ready =
            grown(world.ready, world.capacity_of_tasks, sizeof(void *));
        world.waiting =
            grown(world.waiting, world.capacity_of_tasks, sizeof(void *));
    }
    *task = (struct task){.stack = task->stack,
                          .run = run,
                          .argument = argument,
                          .is_joined = is_joined,
                          .clock = world.current != NULL ? world.current->clock
                                                         : NULL};
    context_init(&task->context, task->stack);
    make_ready(task);
    return task;
}

/* The task stops here until it is made ready. Jumps, since swapcontext() calls
 * the kernel for the mask of signals, which took a quarter of the time. */
static void task_pause(void)
{
    switch_begins(&world.current->fake_stack, world.stack, world.stack_size);
    if (_setjmp(world.current->place) == 0)
        _longjmp(world.scheduler, 1);
    switch_ends(world.current->fake_stack, NULL, NULL);
}

/* Until it pauses or ends. */
static void task_go_on(struct task *task)
{
    switch_begins(&world.fake_stack, (char *)task->stack + GUARD_SIZE,
                  STACK_SIZE);
    if (_setjmp(world.scheduler) == 0) {
        if (task->has_begun)
            _longjmp(task->place, 1);
        task->has_begun = true;
        setcontext(&task->context);
    }
    switch_ends(world.fake_stack, NULL, NULL);
}

void world_yield(void)
{
    if (world.ready_count == 0)
        return;
    make_ready(world.current);
    task_pause();
}

void world_may_yield(void)
{
    if (world.preempt > 0 &&
        random_between(&world.random, 1, world.preempt) == 1)
        world_yield();
}

void world_sleep_until(int64_t at_us)
{
    struct task *task = world.current;

    heap_push(
        (struct moment){.at_us = at_us, .task = task, .ticket = task->ticket});
    task_pause();
}

void world_sleep(int64_t us)
{
    world_sleep_until(world.now_us + us);
}

bool world_wait(const void *what, int64_t until_us)
{
    struct task *task = world.current;

    task->waits_for = what;
    task->is_late = false;
    world.waiting[world.waiting_count++] = task;
    if (until_us != WORLD_NEVER)
        heap_push((struct moment){
            .at_us = until_us, .task = task, .ticket = task->ticket});
    task_pause();
    return !task->is_late;
}

static void stop_waiting(size_t i)
{
    struct task *task = world.waiting[i];

    world.waiting_count--;
    for (; i < world.waiting_count; i++)
        world.waiting[i] = world.waiting[i + 1];
    make_ready(task);
}

void world_wake(const void *what, bool all)
{
    for (size_t i = 0; i < world.waiting_count;) {
        if (world.waiting[i]->waits_for != what) {
            i++;
            continue;
        }
        stop_waiting(i);
        if (!all)
            return;
    }
}

void world_join(struct task *task)
{
    while (!task->is_done)
        (void)world_wait(task, WORLD_NEVER);
    task_free(task);
}

uint64_t world_random(void)
{
    return random_next(&world.random);
}

/* --- time --- */

int64_t world_now_us(void)
{
    return world.now_us;
}

int64_t world_wall_ms(void)
{
    return WALL_MS + world.now_us / MS;
}

int64_t world_clock_ms(void)
{
    const struct world_clock *clock =
        world.current != NULL ? world.current->clock : NULL;

    return world_wall_ms() + (clock != NULL ? clock->ahead_ms : 0);
}

void world_use_clock(const struct world_clock *clock)
{
    world.current->clock = clock;
}

static void run_one(void)
{
    const size_t i = world.ready_count == 1
                         ? 0
                         : random_next(&world.random) % world.ready_count;
    struct task *task = world.ready[i];

    world.ready[i] = world.ready[--world.ready_count];
    world.current = task;
    task_go_on(task);
    world.current = NULL;
    if (!task->is_done)
        return;
    world.living--;
    if (!task->is_joined)
        task_free(task);
}

static void task_wakes(struct task *task)
{
    task->is_late = true;
    if (task->waits_for == NULL) {
        make_ready(task);
        return;
    }
    for (size_t i = 0; i < world.waiting_count; i++) {
        if (world.waiting[i] == task) {
            stop_waiting(i);
            return;
        }
    }
}

static void next_moment(void)
{
    const struct moment moment = heap_pop();

    if (moment.at_us > world.now_us)
        world.now_us = moment.at_us;
    if (moment.act != NULL)
        moment.act(moment.context);
    else if (moment.ticket == moment.task->ticket && !moment.task->is_done)
        task_wakes(moment.task);
}

bool world_run(int64_t until_us)
{
    for (;;) {
        while (world.ready_count > 0)
            run_one();
        if (world.count == 0 || world.heap[0].at_us >= until_us)
            break;
        next_moment();
    }
    if (until_us != WORLD_NEVER)
        world.now_us = until_us;
    return world.count > 0 || world.waiting_count == 0;
}

bool world_drain(void)
{
    return world_run(WORLD_NEVER) && world.living == 0;
}

void world_begin(uint64_t seed, int32_t preempt)
{
    world.now_us = BEGIN_US;
    world.order = 0;
    world.preempt = preempt;
    world.random = random_of(seed, 0);
}

void world_end(void)
{
    assert(world.living == 0);
    world.count = 0;
}
