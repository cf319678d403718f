"""The console's pages as text: templates, forms made from the models, stylesheet and scripts."""
