-- Where a probe stood before it was enrolled for other locations: late results of those are still its own.

ALTER TABLE probes ADD stood text[] NOT NULL DEFAULT '{}';
