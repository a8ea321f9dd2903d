-- SPDX-License-Identifier: Apache-2.0
-- What the redis engine does atomically inside the server: one script, the
-- verb in ARGV[1], one key a call. The engine checks the ranges of what it
-- sends; everything that the store can get wrong is checked here.
--
-- A cell is a hash: w (its window), v (offsets used so far, 0 ... hi),
-- hi (the window's size), origin (the history of the server it counts in).
-- Lua's numbers are doubles: windows, up to 2^63 - 1, stay strings; offsets
-- are at most 2^40 and exact.
local key = KEYS[1]

local function info_field(section, name)
    return redis.call('INFO', section):match('\n' .. name .. ':([^\r\n]*)')
end

-- The server's history *now*. run_id alone survives a demotion and the
-- promotion after it, while the data is replaced: hence the replication id.
local function origin_now()
    return info_field('server', 'run_id') .. ':' ..
           info_field('replication', 'master_replid')
end

local function is_count(text)
    return text and #text <= 19 and text:match('^%d+$')
end

-- The cell, or nil if the key is absent; true as a second value if what is
-- there was not made by this script.
local function cell_read()
    local kind = redis.call('TYPE', key).ok

    if kind == 'none' then return nil, false end
    if kind ~= 'hash' then return nil, true end
    local f = redis.call('HMGET', key, 'w', 'v', 'hi', 'origin')
    if not (is_count(f[1]) and is_count(f[2]) and is_count(f[3]) and f[4]) then
        return nil, true
    end
    return {window = f[1], used = tonumber(f[2]), size = tonumber(f[3]),
            origin = f[4]}, false
end

-- Decimal strings without leading zeros, exact where a double is not.
local function is_below(a, b)
    if #a ~= #b then return #a < #b end
    return a < b
end

-- alloc WANT SIZE: never creates. A grant may be smaller than wanted, so that
-- WANT may be larger than what is left, or than the whole window.
local function alloc(cell)
    local want, size = tonumber(ARGV[2]), tonumber(ARGV[3])

    if not cell then return {'FENCED', ''} end
    if cell.origin ~= origin_now() then return {'FENCED', cell.window} end
    if cell.size ~= size then return {'LAYOUT', cell.window} end
    if cell.used >= size then return {'EXHAUSTED', cell.window} end
    local n = math.min(want, size - cell.used)
    redis.call('HINCRBY', key, 'v', n)
    return {'OK', cell.window, cell.used, n}
end

-- install WINDOW SIZE KEEP OVER: the cell expires after KEEP seconds, 0 is never.
-- It then reads as absent, which costs the rest of its window and no more. A
-- valid cell that counts in the window OVER is given up.
local function install(cell)
    local window, size, origin = ARGV[2], tonumber(ARGV[3]), origin_now()

    if cell and cell.origin == origin then
        if cell.size ~= size then return {'LAYOUT', cell.window} end
        if cell.used < size and cell.window ~= ARGV[5] then
            return {'OK', cell.window} -- somebody was faster
        end
    end
    -- A window that is not above the one found was leased earlier and may
    -- have been counted in already.
    if cell and not is_below(cell.window, window) then
        return {'FENCED', cell.window}
    end
    local function cell_write()
        redis.call('HSET', key, 'w', window, 'v', 0, 'hi', ARGV[3],
                   'origin', origin)
    end

    -- Over what stands there, not behind a DEL: where the key's slot is on its
    -- way to another server of a cluster, a key that is not there is redirected.
    cell_write()
    if ARGV[4] ~= '0' then
        -- An error must mean that no cell was made: the window is dropped.
        local done = redis.pcall('EXPIRE', key, ARGV[4])
        if done ~= 1 then
            redis.call('DEL', key)
            return done
        end
    elseif cell and type(redis.pcall('PERSIST', key)) == 'table' then
        redis.call('DEL', key) -- without that right, which a cluster needs
        cell_write()
    end
    return {'OK', window}
end

-- raise FLOOR
local function raise(cell)
    local floor = ARGV[2]

    if not cell then return {'OK', floor} end
    if is_below(floor, cell.window) then return {'OK', cell.window} end
    redis.call('DEL', key)
    return {'OK', floor}
end

-- claim [TEXT]: a string, not a cell.
local function claim()
    local kind = redis.call('TYPE', key).ok
    local text = ARGV[2]

    if kind == 'string' then return {'OK', redis.call('GET', key)} end
    if kind ~= 'none' then return redis.error_reply('FOREIGN ' .. kind) end
    if not text then return {'OK', ''} end
    redis.call('SET', key, text)
    return {'OK', text}
end

-- A replica may be writable, and then counts values that its master counts
-- too: its being read-only is not relied upon.
if info_field('replication', 'role') ~= 'master' then
    return redis.error_reply('NOTMASTER not a master')
end
if ARGV[1] == 'claim' then return claim() end

local verbs = {alloc = alloc, install = install, raise = raise}
local cell, is_foreign = cell_read()
if is_foreign then return redis.error_reply('FOREIGN not a cell') end
return verbs[ARGV[1]](cell)
