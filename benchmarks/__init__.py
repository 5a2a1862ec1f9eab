"""Measurements of clubcascade: run them from a clone of its repository."""
