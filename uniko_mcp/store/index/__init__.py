"""The rank index: what recall searches. Derived from the graph, kept apart from it, disposable.

`rank_index` is the whole of it; `documents` is what goes in. Import from these, so that numpy is loaded only with them.
"""
