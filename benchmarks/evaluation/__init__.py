"""The evaluation of CohortCascade: its goals, and the state of the field."""
