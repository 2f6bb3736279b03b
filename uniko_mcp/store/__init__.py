"""The store: every write goes to a checksummed journal first, and a Kuzu graph is the view of it that queries read."""

from uniko_mcp.store.draft import Draft
from uniko_mcp.store.status import Commit, Recovery, StoreStatus
from uniko_mcp.store.store import Store
from uniko_mcp.store.view import View

__all__ = ["Commit", "Draft", "Recovery", "Store", "StoreStatus", "View"]
