"""Domain types, the shape of the graph, and the arithmetic of time, names and tokens. Imports nothing above it."""
