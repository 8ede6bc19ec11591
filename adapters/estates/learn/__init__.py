"""Learning content as YAML documents: learning paths, modules, their units with quizzes, achievements, pivots."""
