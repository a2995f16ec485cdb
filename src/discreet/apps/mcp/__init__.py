"""An MCP server for assistants: the private questions of one token, over standard input and output.

    make_server(Tools("https://dp.example.org", token="dp_...")).run()

It holds no data and decides nothing: prices, caps, approvals and deadlines are the server's, for the token
that it was given.
"""

from discreet.apps.mcp.assistant_server import Tools, make_server

__all__ = ["Tools", "make_server"]
