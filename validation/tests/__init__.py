"""The cheap part of the validation as tests."""
