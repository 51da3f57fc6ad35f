"""The same work where a torch module computes: rows, slopes and moments stay on its device."""
