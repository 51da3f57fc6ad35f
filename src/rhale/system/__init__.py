"""What the operating system does for us: processes, files and memory."""
