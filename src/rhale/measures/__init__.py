"""What is measured, one kind a file: asked, added up, concluded."""
