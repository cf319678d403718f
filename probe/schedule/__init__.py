"""What is checked when: due checks, the workers that run them, and what their outcomes mean for the next."""
