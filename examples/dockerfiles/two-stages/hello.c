#include <stdio.h>

int main(void) {
  puts("hello from C");
  return 0;
}
