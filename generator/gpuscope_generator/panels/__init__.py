"""Panels by subject. A panel is a function, of the settings where it needs them; boards say which they show."""
