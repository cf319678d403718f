"""The shell of the console: sessions, forms, rendering and assets; each feature brings its own pages."""
