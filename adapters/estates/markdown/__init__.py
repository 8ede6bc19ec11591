"""Markdown as documentation estates write it: CommonMark, tables, and the publishing platforms' extensions."""
