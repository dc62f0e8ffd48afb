/*
 * The floor of a DNS server over UDP on Linux: answers each query with the same A record, 64
 * datagrams per system call, without a look-up. Usage: udp-echo PORT
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { BATCH = 64, BYTES = 4096 };

static const unsigned char RECORD[16] = {0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, 10, 96, 0, 1};
static unsigned char buffers[BATCH][BYTES];
static struct mmsghdr headers[BATCH];
static struct iovec vectors[BATCH];
static struct sockaddr_in clients[BATCH];

int main(int count, char **arguments) {
  if (count != 2) return 2;
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  int bytes = 4 * 1024 * 1024;
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(arguments[1]))};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0) return 1;
  for (int i = 0; i < BATCH; i++) {
    vectors[i].iov_base = buffers[i];
    headers[i].msg_hdr.msg_iov = &vectors[i];
    headers[i].msg_hdr.msg_iovlen = 1;
    headers[i].msg_hdr.msg_name = &clients[i];
  }
  for (;;) {
    for (int i = 0; i < BATCH; i++) {
      vectors[i].iov_len = BYTES;
      headers[i].msg_hdr.msg_namelen = sizeof clients[i];
    }
    int received = recvmmsg(fd, headers, BATCH, MSG_WAITFORONE, NULL);
    for (int i = 0; i < received; i++) {
      unsigned char *message = buffers[i];
      size_t size = headers[i].msg_len;
      if (size < 12 || size > 512) size = 12;
      message[2] = 0x85;
      message[3] = 0;
      message[7] = 1;
      memset(message + 8, 0, 4);
      memcpy(message + size, RECORD, sizeof RECORD);
      vectors[i].iov_len = size + sizeof RECORD;
    }
    for (int sent = 0; sent < received;) {
      int done = sendmmsg(fd, headers + sent, received - sent, 0);
      sent += done > 0 ? done : 1;
    }
  }
}
