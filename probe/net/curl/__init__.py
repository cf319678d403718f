"""What libcurl speaks for the engine: HTTP/2, HTTP/3, proxies."""
