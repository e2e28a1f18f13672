"""Training runs: updates, schedules, several processes, transfer of weights."""
