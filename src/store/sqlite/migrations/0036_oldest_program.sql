-- 0036_oldest_program: each later migration says which earlier programs may still work on the tables.

ALTER TABLE workflow_migration ADD COLUMN oldest INTEGER;
