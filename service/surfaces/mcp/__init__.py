"""MCP, by the official SDK: the tools and nodes for agents, over standard input and output and over HTTP."""
