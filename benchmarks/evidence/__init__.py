"""How much of the evidence for a question a memory finds: conversations, scores, and the memories under test."""
