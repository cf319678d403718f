-- Results of past days in a few bytes each: one row for a monitor, a location and a day.

-- Numbers are split into a low byte each, which repeats little, and the rest, which hardly changes. A column
-- whose results all have the same value keeps it once.
CREATE TABLE packed_results (
    monitor      int NOT NULL,
    location     smallint NOT NULL,
    since        timestamptz NOT NULL,                      -- all results from here
    until        timestamptz NOT NULL,                      -- to here: a day, or an hour if they are many
    count        int NOT NULL,
    first_ms     bigint NOT NULL,                           -- the first one, in Unix milliseconds
    step_ms      int NOT NULL,                              -- the others follow by this step
    earliest_ms  int NOT NULL,                              -- the least deviation from it, and the largest
    latest_ms    int NOT NULL,
    at           bytea NOT NULL,                            -- low bytes of the deviations, plus 128
    at_high      int[] NOT NULL,
    ms           bytea NOT NULL,                            -- of ms less the sum of the phases, plus 128
    ms_high      int[] NOT NULL,
    dns          bytea NOT NULL,                            -- of the phases: see shared/phases.py
    connect      bytea NOT NULL,
    tls          bytea NOT NULL,
    first_byte   bytea NOT NULL,
    transfer     bytea NOT NULL,
    phases_high  int[] NOT NULL,                            -- six bits of each phase, dns in the lowest
    days_left    smallint[] NOT NULL,
    odd          bytea[],                                   -- phases that are encoded otherwise
    error        int[] NOT NULL,
    n            smallint[] NOT NULL,
    run          smallint[] NOT NULL,
    status       smallint[] NOT NULL,
    code         smallint[] NOT NULL,
    PRIMARY KEY (monitor, location, since)
);
CREATE INDEX packed_results_age ON packed_results (since);

-- Days of which some results are packed.
CREATE TABLE packed_days (
    since        timestamptz PRIMARY KEY
);

CREATE FUNCTION varint(value int) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN value < 128 THEN set_byte('\x00'::bytea, 0, value)
        ELSE set_byte(set_byte('\x0000'::bytea, 0, (value & 127) + 128), 1, value >> 7) END
$$;

-- The first item alone, if all are the same.
CREATE FUNCTION shortened(items anyarray) RETURNS anyarray LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN items = array_fill(items[1], ARRAY[cardinality(items)]) THEN items[1:1] ELSE items END
$$;
CREATE FUNCTION shortened(bytes bytea) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN bytes = decode(repeat(encode(substr(bytes, 1, 1), 'hex'), length(bytes)), 'hex')
        THEN substr(bytes, 1, 1) ELSE bytes
    END
$$;

-- The results of a monitor at a location from $3 up to but not including $4, packed or not: every read of
-- results is a read of this. It is inlined, and reads no more of a day than is asked for. OFFSET 0 has each
-- array opened once, not for each of its items.
CREATE FUNCTION results_of(int, smallint, timestamptz, timestamptz)
RETURNS TABLE (
    ts timestamptz, monitor int, ms int, error int, location smallint, n smallint, run smallint,
    status smallint, code smallint, phases bytea
) LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT r.ts, r.monitor, r.ms, r.error, r.location, r.n, r.run, r.status, r.code, r.phases
    FROM (
        SELECT ts, monitor, ms, error, location, n, run, status, code, phases FROM results
        UNION ALL
        SELECT u.ts, u.monitor,
            (
                u.ms + (
                    greatest(u.dns, 1) + greatest(u.connect, 1) + greatest(u.tls, 1)
                    + greatest(u.first_byte, 1) + greatest(u.transfer, 1)
                ) / 10
            )::int,
            u.error, u.location, u.n, u.run, u.status, u.code,
            coalesce(u.odd, nullif(rtrim(
                varint(u.dns) || varint(u.connect) || varint(u.tls) || varint(u.first_byte)
                || varint(u.transfer) || varint(u.days_left), '\x00'
            ), ''))
        FROM (
            SELECT 'epoch'::timestamptz + (
                    p.first_ms + p.step_ms * i::bigint - 128
                    + (p.at_high[1 + i * p.at_high_by]::bigint << 8) + get_byte(p.at, i * p.at_by)
                ) * interval '1 millisecond' AS ts,
                p.monitor, p.location,
                (p.ms_high[1 + i * p.ms_high_by]::bigint << 8) + get_byte(p.ms, i * p.ms_by) - 128 AS ms,
                get_byte(p.dns, i * p.dns_by) + (p.phases_high[1 + i * p.phases_high_by] & 63) * 256 AS dns,
                get_byte(p.connect, i * p.connect_by) + (p.phases_high[1 + i * p.phases_high_by] >> 6 & 63) * 256 AS connect,
                get_byte(p.tls, i * p.tls_by) + (p.phases_high[1 + i * p.phases_high_by] >> 12 & 63) * 256 AS tls,
                get_byte(p.first_byte, i * p.first_byte_by) + (p.phases_high[1 + i * p.phases_high_by] >> 18 & 63) * 256 AS first_byte,
                get_byte(p.transfer, i * p.transfer_by) + (p.phases_high[1 + i * p.phases_high_by] >> 24 & 63) * 256 AS transfer,
                p.days_left[1 + i * p.days_left_by]::int AS days_left, p.odd[1 + i] AS odd,
                p.error[1 + i * p.error_by] AS error,
                p.n[1 + i * p.n_by] AS n,
                p.run[1 + i * p.run_by] AS run,
                p.status[1 + i * p.status_by] AS status,
                p.code[1 + i * p.code_by] AS code
            FROM (
                SELECT p.monitor, p.location, p.first_ms, p.step_ms,
                    greatest(0, ceil(
                        (extract(epoch FROM $3) * 1000 - p.first_ms - p.latest_ms) / nullif(p.step_ms, 0)
                    ))::int AS first,
                    least(p.count - 1, floor(
                        (extract(epoch FROM $4) * 1000 - p.first_ms - p.earliest_ms) / nullif(p.step_ms, 0)
                    ))::int AS last,
                    p.at || ''::bytea AS at, (length(p.at) > 1)::int AS at_by,
                    p.ms || ''::bytea AS ms, (length(p.ms) > 1)::int AS ms_by,
                    p.dns || ''::bytea AS dns, (length(p.dns) > 1)::int AS dns_by,
                    p.connect || ''::bytea AS connect, (length(p.connect) > 1)::int AS connect_by,
                    p.tls || ''::bytea AS tls, (length(p.tls) > 1)::int AS tls_by,
                    p.first_byte || ''::bytea AS first_byte, (length(p.first_byte) > 1)::int AS first_byte_by,
                    p.transfer || ''::bytea AS transfer, (length(p.transfer) > 1)::int AS transfer_by,
                    p.at_high || '{}' AS at_high, (cardinality(p.at_high) > 1)::int AS at_high_by,
                    p.ms_high || '{}' AS ms_high, (cardinality(p.ms_high) > 1)::int AS ms_high_by,
                    p.phases_high || '{}' AS phases_high, (cardinality(p.phases_high) > 1)::int AS phases_high_by,
                    p.days_left || '{}' AS days_left, (cardinality(p.days_left) > 1)::int AS days_left_by,
                    p.error || '{}' AS error, (cardinality(p.error) > 1)::int AS error_by,
                    p.n || '{}' AS n, (cardinality(p.n) > 1)::int AS n_by,
                    p.run || '{}' AS run, (cardinality(p.run) > 1)::int AS run_by,
                    p.status || '{}' AS status, (cardinality(p.status) > 1)::int AS status_by,
                    p.code || '{}' AS code, (cardinality(p.code) > 1)::int AS code_by,
                    p.odd || '{}' AS odd
                FROM packed_results p
                WHERE p.monitor = $1 AND p.location = $2
                    AND p.since > $3 - interval '1 day' AND p.since < $4 AND p.until > $3
                OFFSET 0
            ) p CROSS JOIN LATERAL generate_series(p.first, p.last) i
            OFFSET 0
        ) u
    ) r
    WHERE r.monitor = $1 AND r.location = $2 AND r.ts >= $3 AND r.ts < $4
$$;
