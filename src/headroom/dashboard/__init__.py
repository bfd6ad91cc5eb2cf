"""The page that shows a cluster: its data as a pure function, and the small server for it."""
