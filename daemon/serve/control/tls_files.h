// The files of mutual TLS: read, checked, and read again when they change. No gRPC in here.
#pragma once

#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/status.h"
#include "echoline/v1/config.pb.h"

namespace echoline::serve {

// Contents that fit together, in PEM.
struct TlsMaterial {
  std::string certificate;
  std::string key;
  std::string client_ca;
  std::int64_t not_after = 0;  // of the certificate, seconds since 1970
};

// Reads and checks: the key belongs to the certificate, which is valid now, and there is an
// authority that is. An error names the file and the remedy.
Result<TlsMaterial> load_tls(const v1::ControlAccess& files);

// The material in force. poll() is called by one thread, the rest by any.
class TlsFiles {
 public:
  static Result<std::unique_ptr<TlsFiles>> open(const v1::ControlAccess& files);

  // Looks at the files and takes over what has changed, once it has been still from one call to
  // the next: certificate and key are rarely replaced at the same instant. What is wrong is
  // logged and counted, and the old stays in force.
  void poll();

  struct Counts {
    std::uint64_t reloads_ok = 0;
    std::uint64_t reloads_failed = 0;
    std::int64_t not_after = 0;
  };
  Counts counts() const;
  std::shared_ptr<const TlsMaterial> material() const;

 private:
  // Enough of each file to see that it was replaced or written to.
  struct Mark {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t changed_ns = 0;
    std::int64_t bytes = -1;  // -1: cannot be looked at
    bool operator==(const Mark&) const = default;
  };
  using Marks = std::array<Mark, 3>;

  explicit TlsFiles(v1::ControlAccess files) : files_(std::move(files)) {}
  Marks look() const;

  const v1::ControlAccess files_;
  Marks tried_;  // what the last attempt at reading saw
  Marks seen_;   // by the last poll
  mutable std::mutex mutex_;
  std::shared_ptr<const TlsMaterial> material_;
  Counts counts_;
};

}  // namespace echoline::serve
