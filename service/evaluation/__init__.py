"""How well a configuration ranks, judged by people's judgments: sets, runs, measures, and the comparison of two."""
