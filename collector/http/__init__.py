"""The HTTP server: admission, authentication, rate limits, request bodies, errors, paging."""
