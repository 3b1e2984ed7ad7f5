"""Draws scenarios over all that manetlab offers, runs them with every check on, and shrinks what fails."""
