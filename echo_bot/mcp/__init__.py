"""Tools of MCP servers: connections kept up, definitions pinned, every call through the gate like any other.

`schema`, `definition`, `names`, `standing` and `content` decide; `connection`, `stdio`, `traffic` and `http`
speak, and only they import the SDK, once a server is started; `server` and `servers` keep it all going.
"""
