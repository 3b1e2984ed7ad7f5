"""What the simulator costs. ``make bench`` measures everything; see docs/performance.md."""
