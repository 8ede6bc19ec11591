"""Sentences into vectors: the packaged model, and any OpenAI-compatible endpoint."""
