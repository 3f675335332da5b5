-- begin_settings: what holds in a transaction of the engine's, and its time.
--
--   $1  how long to wait for a lock, such as '5000ms'
--
-- cairn.engine silences the triggers that are there for everybody else.  Plans are made once and
-- kept, perhaps on an empty table; so whatever would be right only for few rows is turned off, and
-- an ordered index is what remains.  All of it ends with the transaction, as a pooler demands.
-- One row: the database's clock.

SELECT clock_timestamp(),
       set_config('cairn.engine', '1', true),
       set_config('lock_timeout', $1, true),
       set_config('plan_cache_mode', 'force_generic_plan', true),
       set_config('enable_seqscan', 'off', true),
       set_config('enable_bitmapscan', 'off', true),
       set_config('enable_hashjoin', 'off', true),
       set_config('enable_mergejoin', 'off', true),
       set_config('enable_sort', 'off', true),
       set_config('enable_incremental_sort', 'off', true),
       set_config('jit', 'off', true)
