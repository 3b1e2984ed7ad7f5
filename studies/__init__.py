"""Studies that are kept: campaigns, the results that they gave, and what makes their pages."""
