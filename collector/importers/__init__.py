"""Moving in: other systems' monitors, channels and pages as files for ``tocsin apply``."""
