// Debian's static libexpat and libstdc++ call these functions, which glibc has from 2.36 on. With
// those of this file, the programs of a wheel also run with 2.35, Ubuntu 22.04's.
#include <stdlib.h>
#include <sys/random.h>
#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

extern "C" {

void arc4random_buf(void* bytes, size_t size) noexcept {
  size_t done = 0;
  while (done < size) {
    const ssize_t got = getrandom(static_cast<char*>(bytes) + done, size - done, 0);
    if (got > 0) {
      done += static_cast<size_t>(got);
    } else if (errno != EINTR) {
      abort();  // as glibc does where the kernel gives no random numbers
    }
  }
}

uint32_t arc4random() noexcept {
  uint32_t number = 0;
  arc4random_buf(&number, sizeof(number));
  return number;
}
}
