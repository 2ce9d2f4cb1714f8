"""Effects of `Code`: what values may point to, and what operations may write, read and let escape."""
