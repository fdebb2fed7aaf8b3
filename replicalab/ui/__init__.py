"""The interface: the only part that imports streamlit. It draws, reads widgets and calls."""
