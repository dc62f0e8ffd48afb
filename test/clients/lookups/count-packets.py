"""Counts the packets on the loopback interface from or to port 53; prints the count since the last
line of its input at each line."""
import socket
import struct
import sys

ETH_P_ALL, OUTGOING, SO_RCVBUFFORCE = 3, 4, 33
packets = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
packets.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
packets.bind(("lo", 0))
packets.setblocking(False)


def is_dns(packet: bytes) -> bool:
    if packet[0] >> 4 != 4 or packet[9] not in (6, 17):
        return False
    start = (packet[0] & 15) * 4
    return 53 in struct.unpack_from("!HH", packet, start)


print("counting", flush=True)
for _ in sys.stdin:
    count = 0
    while True:
        try:
            # The loopback interface shows each packet twice: as it leaves and as it arrives.
            packet, (_, _, kind, _, _) = packets.recvfrom(128)
        except BlockingIOError:
            break
        count += kind == OUTGOING and is_dns(packet)
    print(count, flush=True)
