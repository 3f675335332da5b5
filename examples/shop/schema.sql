-- The shop's own tables.  Cairn has its own, in the schema `workflow` of the same database.
CREATE TABLE IF NOT EXISTS orders (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    item     text   NOT NULL,
    amount   int    NOT NULL CHECK (amount > 0),
    instance uuid   NOT NULL
);

-- What the warehouse and the bank have done.  The key says for which call it was done, so that a call
-- that is repeated after a crash has no second effect.
CREATE TABLE IF NOT EXISTS reservations (key text PRIMARY KEY, order_id bigint NOT NULL, released boolean NOT NULL DEFAULT false);
CREATE TABLE IF NOT EXISTS charges      (key text PRIMARY KEY, order_id bigint NOT NULL, amount int NOT NULL,
                                         refunded boolean NOT NULL DEFAULT false);
CREATE TABLE IF NOT EXISTS shipments    (key text PRIMARY KEY, order_id bigint NOT NULL);
