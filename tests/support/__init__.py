"""What the tests stand on: real servers on loopback sockets, and small builders."""
