-- notify: tells engines that listen, when this transaction is committed.
--
--   $1  who we are, so that we need not wake ourselves

SELECT pg_notify('cairn', $1)
