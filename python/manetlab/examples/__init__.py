"""Routing protocols in Python to begin from: copy one, change it. docs/add-a-routing-protocol.md builds them.

`manetlab.examples.flooding.Flooding` does in Python what ``routing = "flooding"`` does in Rust;
`manetlab.examples.greedy.Greedy` forwards by position; `manetlab.examples.sourced.Sourced` puts the
path into a header of each packet.
"""
