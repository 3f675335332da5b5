-- 0036_oldest_program: each later migration says which earlier programs may still work on the tables.
-- locks: workflow.cairn_schema for a moment

ALTER TABLE workflow.cairn_schema ADD COLUMN oldest integer;
