"""What is known of volumes, and what pods at our doors need of them."""
