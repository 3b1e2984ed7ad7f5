"""What runs in a page: the resolver's own modules over the core as a WebAssembly module.

A page that holds Python (`manetlab.replay.python_in_page`) has the package's modules as files; `core` is
there as `manetlab._core`, and `answers` is what the page calls.
"""
