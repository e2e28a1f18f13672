"""Conversion to and from the types of other toolkits, which are imported only when needed."""
