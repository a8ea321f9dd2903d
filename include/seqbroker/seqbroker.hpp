/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seqbroker.h for C++17 and later: handles that close themselves, and errors as
 * exceptions. A function that takes a seqb_error * throws nothing and returns
 * the status; every other function throws seqbroker::error. Threads, lifetimes
 * and statuses are as seqbroker.h says. Header only.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <seqbroker/seqbroker.h>

namespace seqbroker
{

/* what() is the text of the details. */
struct error : std::runtime_error {
    seqb_error details;

    explicit error(const seqb_error &err)
        : std::runtime_error(err.text), details(err)
    {
    }
    /* Throws the error of a call, unless the call succeeded. */
    static void check(seqb_status status, const seqb_error &err)
    {
        if (status != SEQB_OK)
            throw error(err);
    }
};

/* A sequence, owned by its broker: it may be copied, and is valid until the
 * broker is closed. */
struct sequence {
    seqb_sequence *handle;

    std::int64_t next() const
    {
        std::int64_t number = 0;
        seqb_error err;

        error::check(next(number, &err), err);
        return number;
    }
    [[nodiscard]] seqb_status next(std::int64_t &out,
                                   seqb_error *err) const noexcept
    {
        return seqb_next(handle, &out, err);
    }
    /* Does not wait. */
    [[nodiscard]] seqb_status try_next(std::int64_t &out,
                                       seqb_error *err) const noexcept
    {
        return seqb_try_next(handle, &out, err);
    }
    /* Takes all `count` numbers or none, of one stamp. */
    std::vector<std::int64_t> take(std::size_t count) const
    {
        std::vector<std::int64_t> numbers(count);
        seqb_take_options options = {};
        seqb_error err;

        options.size = sizeof options;
        options.count = count;
        error::check(take(options, numbers.data(), nullptr, &err), err);
        return numbers;
    }
    /* As seqb_take. */
    [[nodiscard]] seqb_status take(const seqb_take_options &options,
                                   std::int64_t *out, seqb_taken *taken,
                                   seqb_error *err) const noexcept
    {
        return seqb_take(handle, &options, out, taken, err);
    }
    /* One number as a text. */
    std::string text(const std::vector<seqb_param> &params = {}) const
    {
        char out[SEQB_TEXT_MAX + 1];
        seqb_take_options options = {};
        seqb_error err;

        options.size = sizeof options;
        options.count = 1;
        options.params = params.data();
        options.param_count = params.size();
        options.text_size = sizeof out;
        error::check(seqb_take_texts(handle, &options, out, nullptr, &err),
                     err);
        return out;
    }
};

/* A broker; closes itself. It can be moved, not copied. */
struct broker {
    explicit broker(const char *topology = nullptr)
    {
        seqb_broker *opened = nullptr;
        seqb_error err;

        error::check(seqb_open(topology, &opened, &err), err);
        handle.reset(opened);
    }
    sequence get_sequence(const char *key) const
    {
        sequence found = {};
        seqb_error err;

        error::check(seqb_get_sequence(handle.get(), key, &found.handle, &err),
                     err);
        return found;
    }
    std::unique_ptr<seqb_broker, void (*)(seqb_broker *)> handle = {nullptr,
                                                                    seqb_close};
};

/* One thread's slice of a sequence; on destruction it gives the rest back. Its
 * broker must outlive it. It can be moved, not copied. */
struct cursor {
    explicit cursor(const sequence &of, std::size_t slice = 0)
    {
        seqb_cursor *opened = nullptr;
        seqb_error err;

        error::check(seqb_cursor_open(of.handle, slice, &opened, &err), err);
        handle.reset(opened);
    }
    std::int64_t next()
    {
        std::int64_t number = 0;
        seqb_error err;

        error::check(next(number, &err), err);
        return number;
    }
    [[nodiscard]] seqb_status next(std::int64_t &out, seqb_error *err) noexcept
    {
        return seqb_cursor_next(handle.get(), &out, err);
    }
    std::unique_ptr<seqb_cursor, void (*)(seqb_cursor *)> handle = {
        nullptr, seqb_cursor_close};
};

} // namespace seqbroker
