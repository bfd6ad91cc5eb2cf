"""Facts about volumes, and what pods at our doors need of them."""
