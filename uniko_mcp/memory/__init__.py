"""What the product knows how to do: goals, recording, facts, conversation, recall. Knows the store by its interface."""
