"""Qdrant: nearest neighbours over passage vectors."""
