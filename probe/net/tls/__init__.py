"""TLS by OpenSSL or rustls, and the certificates that servers send."""
