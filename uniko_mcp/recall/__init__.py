"""Recall: from a query to ranked, budgeted evidence. `recaller` is the way in."""
