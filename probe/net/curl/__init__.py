"""HTTP/2, HTTP/3 and proxies, by libcurl."""
