// Reads and checks the files of mutual TLS, and reads them again when they change. Free of gRPC.
#pragma once

#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "base/status.h"
#include "echoline/v1/config.pb.h"

namespace echoline::serve {

// A certificate, its key and the authorities of the other side, in PEM.
struct TlsMaterial {
  std::string certificate;
  std::string key;
  std::string authorities;
  std::int64_t not_after = 0;  // of the certificate, seconds since 1970
};

// The files of TLS, and the keys of the configuration that name them, for errors.
struct TlsPaths {
  std::string block;  // as "daemon.control"
  std::string certificate;
  std::string key;
  std::string authorities;
  std::string authorities_key;  // "client_ca" or "server_ca"
};
TlsPaths tls_paths(const v1::ControlAccess& access);
TlsPaths tls_paths(const v1::Serve& serve);
TlsPaths tls_paths(const v1::Etcd& etcd);

// Reads the files and checks that the key belongs to the certificate, that the certificate is valid
// now, and that one authority is; files that are not named are left out. An error names the file
// and the remedy.
Result<TlsMaterial> load_tls(const TlsPaths& files);

// The current material. One thread calls poll(); any thread may call the other functions.
class TlsFiles {
 public:
  static Result<std::unique_ptr<TlsFiles>> open(const TlsPaths& files);

  // Loads the files again if they have changed and have not changed since the last call. That call
  // in between is needed because certificate and key are rarely replaced at the same instant. A
  // wrong file is logged and counted, and the old material stays in use.
  void poll();

  struct Counts {
    std::uint64_t reloads_ok = 0;
    std::uint64_t reloads_failed = 0;
    std::int64_t not_after = 0;
  };
  Counts counts() const;
  std::shared_ptr<const TlsMaterial> material() const;

 private:
  // The attributes that change when a file is replaced or written.
  struct Mark {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t changed_ns = 0;
    std::int64_t bytes = -1;  // -1: stat failed
    bool operator==(const Mark&) const = default;
  };
  using Marks = std::array<Mark, 3>;

  explicit TlsFiles(TlsPaths files) : files_(std::move(files)) {}
  // The present marks of the three files.
  Marks stat_files() const;

  const TlsPaths files_;
  Marks tried_;  // at the last attempt to load
  Marks seen_;   // at the last poll
  mutable Mutex mutex_;
  std::shared_ptr<const TlsMaterial> material_ ECHOLINE_GUARDED_BY(mutex_);
  Counts counts_ ECHOLINE_GUARDED_BY(mutex_);
};

}  // namespace echoline::serve
