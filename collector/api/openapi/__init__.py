"""The API in OpenAPI 3.1: one file for each group of resources, put together in document.py."""
