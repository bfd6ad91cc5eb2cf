"""The web page that shows a cluster: its data as a pure function, and the routes that serve it."""
