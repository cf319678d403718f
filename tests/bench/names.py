"""A name server for benchmarks, in a process of its own: the same answer to every question."""

import socket
import struct
from ipaddress import IPv4Address

ANSWER = b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 60, 4) + IPv4Address("192.0.2.1").packed


def main() -> None:
    """Says its port, then serves until it is killed."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        print(sock.getsockname()[1], flush=True)
        while True:
            query, client = sock.recvfrom(4096)
            end = query.index(b"\0", 12) + 5
            head = query[:2] + struct.pack("!5H", 0x8180, 1, 1, 0, 0)
            sock.sendto(head + query[12:end] + ANSWER, client)


if __name__ == "__main__":
    main()
