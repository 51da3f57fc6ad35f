"""A folder from which an interrupted run goes on: whose it is, and what it keeps."""
