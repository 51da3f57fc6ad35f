"""Statistics and numerics without a home in one method: distributions, sampling, interpolation, compiled loops."""
