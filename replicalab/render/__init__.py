"""One renderer for each form: blocks as HTML, text, Markdown, PDF and tables, and the figures."""
