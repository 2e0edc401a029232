"""The composition root and the life of a running bot."""
