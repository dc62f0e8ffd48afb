/* Prints the addresses of a name, one a line, by the C library's getaddrinfo. */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>

int main(int argc, char **argv) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
  char text[INET6_ADDRSTRLEN];
  int error = argc < 2 ? EAI_NONAME : getaddrinfo(argv[1], NULL, &hints, &found);
  if (error != 0) {
    fprintf(stderr, "%s\n", gai_strerror(error));
    return 1;
  }
  for (struct addrinfo *one = found; one != NULL; one = one->ai_next) {
    if (getnameinfo(one->ai_addr, one->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST) == 0)
      puts(text);
  }
  return 0;
}
