"""Readers that turn one kind of document each into text and sections."""
