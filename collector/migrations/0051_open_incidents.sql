-- Every open console counts the incidents that are not resolved, whatever the length of the history.

CREATE INDEX incidents_unresolved ON incidents (team_id, created_at DESC, id DESC) WHERE status <> 'resolved';
