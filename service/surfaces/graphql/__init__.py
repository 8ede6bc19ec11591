"""GraphQL: the tools as one schema, derived from their requests and results, within bounds that are checked first."""
