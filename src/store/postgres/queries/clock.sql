-- clock: the database's clock at this moment, not at the transaction's start.

SELECT clock_timestamp()
