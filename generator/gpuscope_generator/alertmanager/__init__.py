"""Alertmanager: who is told what, in which words, and what is held back because of what."""
