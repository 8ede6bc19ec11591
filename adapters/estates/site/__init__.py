"""Reading a site: its pages, navigation, redirections and outside references, whatever format its pages have."""
