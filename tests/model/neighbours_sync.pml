/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a broker of neighbours.pml makes a lessor level that was restarted: it
 * marks the lessor's incarnation at all others, then reads their counters, then
 * raises the lessor's, then writes `synced`. Or, where only marks are missing,
 * leaves those. It may end anywhere.
 */
#define NOBODY LESSORS

/* Of those that lease nothing here, only one that goes back needs to be level
 * again. */
#if defined(ANY) || defined(LIVE)
#define SYNCED LESSORS
#else
#define SYNCED 1
#endif

#define lacks_mark(o, s) \
    ((o) != (s) && is_up(o) && (s) < LEASING && \
     store[o].known[s] != store[s].incarnation)
#if LESSORS > 3
#define lacks_marks(s) \
    (lacks_mark(0, s) || lacks_mark(1, s) || lacks_mark(2, s) || \
     lacks_mark(3, s))
#else
#define lacks_marks(s) \
    (lacks_mark(0, s) || lacks_mark(1, s) || lacks_mark(2, s))
#endif

/* Of a lessor that leases nothing here no mark is compared. */
#define everybody ((1 << LESSORS) - 1)
#define is_all_marked (l >= LEASING || (marked | (1 << l)) == everybody)
#ifdef LATE_MARK
#define may_read true
#define may_finish is_all_marked
#else
#define may_read is_all_marked
#define may_finish true
#endif

/* What is read of a lessor: a page for each cell, and which are closed. */
#ifdef PURGE
#define PAGES (CELLS + 1)
#define CLOSED CELLS
#else
#define PAGES CELLS
#endif
#define all_pages ((1 << PAGES) - 1)
#define page_bit(o, page) (1 << ((o) * PAGES + (page)))
#define is_read(o, page) ((pages & page_bit(o, page)) != 0)
#ifdef READ_ONE
#define is_all_read (pages != 0)
#else
#define is_all_read \
    (pages == (((1 << (LESSORS * PAGES)) - 1) & ~(all_pages << (l * PAGES))))
#endif
#ifdef FINISH_EARLY
#define is_all_raised (raised != 0)
#else
#define is_all_raised (raised == all_pages)
#endif

inline sync_forget()
{
    l = NOBODY;
    target = 0;
    is_renewal = false;
    marked = 0;
    pages = 0;
    raised = 0;
    is_closed = false;
    for (i : 0 .. CELLS - 1) {
        level[i] = 0
    }
    for (i : 0 .. LESSORS - 1) {
        seen[i] = 0;
        seen_in[i] = 0
    }
    i = 0
}

/* The marks that stand at the others; then the lessor's incarnation and whether
 * it is level. One step is enough: a mark is compared when it is replaced, and
 * does not come back within an incarnation of its store. So if it was replaced,
 * the same one stood there ever since it was read. */
inline look(s)
{
    l = s;
    target = store[s].incarnation;
    is_renewal = store[s].is_level;
    for (i : 0 .. LESSORS - 1) {
        see(i)
    }
    i = 0;
    printf("MODEL syncer %d begins with lessor %d in incarnation %d\n", me, s,
           target)
}

inline see(o)
{
    if
    :: o != l && l < LEASING ->
        seen[o] = store[o].known[l];
        seen_in[o] = store[o].incarnation
    :: else
    fi
}

#ifdef NO_SEEN_IN
#define is_in_seen(o) true
#else
#define is_in_seen(o) (store[o].incarnation == seen_in[o])
#endif
#ifdef NO_CAS
#define is_as_seen(o) true
#else
#define is_as_seen(o) \
    (is_in_seen(o) && \
     (store[o].known[l] == seen[o] || store[o].known[l] == target))
#endif

/* One statement: compares mark and incarnation with what was seen. */
inline leave_mark(o)
{
    if
    :: is_as_seen(o) ->
        store[o].known[l] = target;
        marked = marked | (1 << o);
        seen[o] = 0;
        seen_in[o] = 0;
        printf("MODEL syncer %d marks incarnation %d of lessor %d at %d\n",
               me, target, l, o)
    :: else ->
        printf("MODEL syncer %d finds another mark of lessor %d at %d\n", me,
               l, o);
        sync_forget()
    fi
}

inline read_page(o, page)
{
    pages = pages | page_bit(o, page);
#ifdef PURGE
    if
    :: page == CLOSED -> is_closed = is_closed || store[o].is_closed
    :: page != CLOSED -> level[page] = higher(level[page], store[o].top[page])
    fi;
#else
    level[page] = higher(level[page], store[o].top[page]);
#endif
    printf("MODEL syncer %d reads page %d of lessor %d\n", me, page, o)
}

/* Raises do not ask who sends them: one that is late only skips leases. */
inline raise_page(page)
{
    raised = raised | (1 << page);
#ifdef PURGE
    if
    :: page == CLOSED ->
        store[l].is_closed = store[l].is_closed || is_closed;
        is_closed = false
    :: page != CLOSED -> raise_cell(page)
    fi;
#else
    raise_cell(page);
#endif
    printf("MODEL syncer %d raises page %d of lessor %d\n", me, page, l)
}

inline raise_cell(c)
{
#ifndef NO_RAISE
    store[l].top[c] = higher(store[l].top[c], level[c]);
#endif
    level[c] = 0
}

#ifdef FINISH_BLIND
#define is_same_run true
#else
#define is_same_run (store[l].incarnation == target)
#endif

/* One statement: compares the incarnation, writes `synced`. */
inline finish()
{
    if
    :: is_same_run ->
        store[l].is_level = true;
        printf("MODEL syncer %d: lessor %d is level\n", me, l)
    :: else
    fi;
    sync_forget()
}

#define is_renewal_done \
    (is_renewal && \
     (is_all_marked || !lacks_marks(l) || !is_all_up && is_some_marked))
#define is_some_marked ((marked | (1 << l) | (1 << DOWN)) == everybody)
#ifndef DOWN
#undef is_some_marked
#define is_some_marked false
#endif
#define is_hopeless (!is_renewal && !is_all_up)
#define may_mark(o) \
    (l < LEASING && (o) != l && is_up(o) && (marked & (1 << (o))) == 0)
#define is_reading(o) \
    (l != NOBODY && (o) != l && is_up(o) && !is_renewal && may_read)
#ifdef CLOSED_FIRST
#define is_in_order(o, page) ((page) == CLOSED || is_read(o, CLOSED))
#else
#define is_in_order(o, page) ((page) != CLOSED || is_read(o, 0))
#endif
#ifndef PURGE
#undef is_in_order
#define is_in_order(o, page) true
#endif

#define LOOK(s) \
    :: d_step { \
        l == NOBODY && is_up(s) && \
        (store[s].is_level -> lacks_marks(s) : is_all_up) -> \
        look(s) \
    }
#define MARK(o) \
    :: d_step { may_mark(o) -> leave_mark(o) }
#define READ(o, page) \
    :: d_step { \
        is_reading(o) && raised == 0 && !is_read(o, page) && \
        is_in_order(o, page) -> \
        read_page(o, page) \
    }
#define RAISE(page) \
    :: d_step { \
        l != NOBODY && is_all_read && (raised & (1 << (page))) == 0 -> \
        raise_page(page) \
    }
#if SYNCED > 1
#define PAGE(page) READ(0, page) READ(1, page) READ(2, page) RAISE(page)
#else
#define PAGE(page) READ(1, page) READ(2, page) RAISE(page)
#endif

proctype syncer(byte me)
{
    byte l = NOBODY;       /* makes this lessor level, */
    byte target;           /* in this incarnation of it */
    bool is_renewal;       /* it is level: only marks are missing */
    byte seen[LESSORS];    /* the marks at the others before that, */
    byte seen_in[LESSORS]; /* and their own incarnations */
    byte marked;           /* bit o: it is marked at o */
    short pages;           /* read at the others, */
    byte level[CELLS];     /* the highest that they have, */
    bool is_closed;        /* and whether one of them has closed cell 0 */
    byte raised;           /* a bit a page */
    byte i;

end:
    do
    LOOK(0)
#if SYNCED > 1
    LOOK(1)
    LOOK(2)
#endif
#if LEASING > 1
    MARK(0)
#endif
    MARK(1)
    MARK(2)
    PAGE(0)
#if PAGES > 1
    PAGE(1)
#endif
#if PAGES > 2
    PAGE(2)
#endif
#if LESSORS > 3
    MARK(3)
    READ(3, 0)
#endif
    :: d_step { l != NOBODY && is_all_raised && may_finish -> finish() }
#ifdef LATE_LOOK
    /* Reads what stands there only now. */
    :: d_step { l != NOBODY && marked == 0 -> see(0); see(1); see(2) }
#endif
    /* It is killed; or has left all marks that were missing; or gives up, since
     * one of the others cannot be asked. */
    :: d_step {
        l != NOBODY && (!is_calm || is_renewal_done || is_hopeless) ->
        printf("MODEL syncer %d ends\n", me);
        sync_forget()
    }
    od
}
