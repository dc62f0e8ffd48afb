/* Looks up names with the C library's resolver, one line each: "NAME ADDRESS,ADDRESS"; of an address, its name.
   Without arguments it sleeps until SIGTERM, as the first process of a pod does. */
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void end(int number) { _exit(0); }

static void name_of(const struct addrinfo *address, const char *text) {
  char name[NI_MAXHOST];
  int error = getnameinfo(address->ai_addr, address->ai_addrlen, name, sizeof name, NULL, 0, NI_NAMEREQD);
  printf("%s %s\n", text, error ? "-" : name);
}

static void addresses_of(const char *name) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL, *one;
  printf("%s ", name);
  if (getaddrinfo(name, NULL, &hints, &found)) printf("-");
  for (one = found; one; one = one->ai_next) {
    char text[NI_MAXHOST];
    getnameinfo(one->ai_addr, one->ai_addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST);
    printf("%s%s", one == found ? "" : ",", text);
  }
  printf("\n");
}

int main(int count, char **arguments) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST}, *address;
  signal(SIGTERM, end);
  if (count == 1) for (;;) pause();
  for (int i = 1; i < count; i++) {
    if (getaddrinfo(arguments[i], NULL, &hints, &address)) addresses_of(arguments[i]);
    else name_of(address, arguments[i]);
  }
  return 0;
}
