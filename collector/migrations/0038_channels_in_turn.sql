-- Deliveries are claimed channel by channel. An index on all due times let the planner walk through the backlog of
-- every other channel to find the first of one, whenever its statistics were older than the backlog.

DROP INDEX deliveries_due;
