"""The link to a collector: enrolment, the session, plan and results."""
