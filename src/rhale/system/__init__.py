"""What the operating system does for us: processes and files."""
