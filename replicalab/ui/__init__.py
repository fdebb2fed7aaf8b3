"""The pages: the only part that imports streamlit."""
