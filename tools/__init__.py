"""Scripts for developers; nothing here ships."""
