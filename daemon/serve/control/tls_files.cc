#include "serve/control/tls_files.h"

#include <fmt/core.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <ctime>
#include <vector>

#include "base/bounded_file.h"
#include "base/log.h"

namespace echoline::serve {
namespace {

// A chain of certificates is a few kilobytes; this bounds a wrong path.
constexpr std::size_t kFileBytesMax = 1 << 20;

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using Certificate = std::unique_ptr<X509, Free>;
using Key = std::unique_ptr<EVP_PKEY, Free>;

Status wrong(const TlsPaths& files, std::string_view key, const std::string& path,
             std::string_view what) {
  return Status(Code::kInvalidArgument, fmt::format("{}.{}: {}: {}", files.block, key, path, what));
}

Result<std::string> read_file(const TlsPaths& files, std::string_view key,
                              const std::string& path) {
  Result<std::string> text = read_bounded_file(path, kFileBytesMax);
  if (text.ok()) return text;
  return text.status().with_context(fmt::format("{}.{}", files.block, key));
}

std::unique_ptr<BIO, Free> reader_of(const std::string& text) {
  return std::unique_ptr<BIO, Free>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// All certificates of a file, the leaf of a chain first.
std::vector<Certificate> certificates_in(const std::string& text) {
  std::vector<Certificate> found;
  const auto reader = reader_of(text);
  while (X509* one = PEM_read_bio_X509(reader.get(), nullptr, nullptr, nullptr))
    found.emplace_back(one);
  // OpenSSL reports the end of the text as an error, which the next TLS connection would find.
  ERR_clear_error();
  return found;
}

// Without a callback OpenSSL would ask for a passphrase on the terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

Key key_in(const std::string& text) {
  const auto reader = reader_of(text);
  Key key(PEM_read_bio_PrivateKey(reader.get(), nullptr, no_passphrase, nullptr));
  ERR_clear_error();
  return key;
}

std::int64_t seconds_of(const ASN1_TIME* time) {
  std::tm parts{};
  return ASN1_TIME_to_tm(time, &parts) == 1 ? ::timegm(&parts) : 0;
}

std::string date_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return "an unreadable time";
  char text[64] = "";
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text;
}

bool is_over(const X509& certificate) {
  // Negative: before now.
  return X509_cmp_current_time(X509_get0_notAfter(&certificate)) < 0;
}

Status check_dates(const TlsPaths& files, const X509& certificate) {
  const std::string& path = files.certificate;
  if (is_over(certificate)) {
    return wrong(files, "certificate", path,
                 fmt::format("expired on {}; renew it", date_of(X509_get0_notAfter(&certificate))));
  }
  if (X509_cmp_current_time(X509_get0_notBefore(&certificate)) > 0) {
    return wrong(files, "certificate", path,
                 fmt::format("is not valid before {}; wait, or look at this host's clock",
                             date_of(X509_get0_notBefore(&certificate))));
  }
  return Status();
}

Status check_authorities(const TlsPaths& files, const std::string& text) {
  const std::string& path = files.authorities;
  const std::vector<Certificate> authorities = certificates_in(text);
  if (authorities.empty()) {
    return wrong(files, files.authorities_key, path, "holds no certificate in PEM form");
  }
  // One valid authority is enough: others may stay in the file after their renewal.
  for (const Certificate& one : authorities) {
    if (!is_over(*one)) return Status();
  }
  return wrong(files, files.authorities_key, path,
               "all authorities in it have expired; renew them");
}

// Checks them as a pair; the end of the certificate, in seconds since 1970.
Result<std::int64_t> check_pair(const TlsPaths& files, const TlsMaterial& material) {
  // The first certificate is the own one; the others lead to the authority.
  const std::vector<Certificate> chain = certificates_in(material.certificate);
  if (chain.empty()) {
    return wrong(files, "certificate", files.certificate, "holds no certificate in PEM form");
  }
  const Key key = key_in(material.key);
  if (key == nullptr) {
    return wrong(files, "key", files.key, "holds no private key in PEM form without a passphrase");
  }
  // A pair that does not fit would only fail at each handshake.
  if (X509_check_private_key(chain.front().get(), key.get()) != 1) {
    ERR_clear_error();
    return wrong(files, "key", files.key,
                 fmt::format("does not belong to the certificate in {}; put the pair that was "
                             "made together there",
                             files.certificate));
  }
  ECHOLINE_TRY(check_dates(files, *chain.front()));
  return seconds_of(X509_get0_notAfter(chain.front().get()));
}

}  // namespace

TlsPaths tls_paths(const v1::ControlAccess& access) {
  return {"daemon.control", access.certificate(), access.key(), access.client_ca(), "client_ca"};
}

TlsPaths tls_paths(const v1::Serve& serve) {
  return {"daemon.serve", serve.certificate(), serve.key(), serve.client_ca(), "client_ca"};
}

TlsPaths tls_paths(const v1::Etcd& etcd) {
  return {"daemon.etcd", etcd.certificate(), etcd.key(), etcd.server_ca(), "server_ca"};
}

// OpenSSL's objects live for this check only; gRPC parses the same texts again.
Result<TlsMaterial> load_tls(const TlsPaths& files) {
  TlsMaterial material;
  if (!files.certificate.empty()) {
    ECHOLINE_ASSIGN(material.certificate, read_file(files, "certificate", files.certificate));
    ECHOLINE_ASSIGN(material.key, read_file(files, "key", files.key));
    ECHOLINE_ASSIGN(material.not_after, check_pair(files, material));
  }
  if (!files.authorities.empty()) {
    ECHOLINE_ASSIGN(material.authorities,
                    read_file(files, files.authorities_key, files.authorities));
    ECHOLINE_TRY(check_authorities(files, material.authorities));
  }
  return material;
}

Result<std::unique_ptr<TlsFiles>> TlsFiles::open(const TlsPaths& files) {
  std::unique_ptr<TlsFiles> opened(new TlsFiles(files));
  // Before reading: a change during the reading is found by the next poll.
  opened->tried_ = opened->seen_ = opened->stat_files();
  ECHOLINE_ASSIGN(TlsMaterial material, load_tls(files));
  const MutexLock lock(opened->mutex_);
  opened->counts_.not_after = material.not_after;
  opened->material_ = std::make_shared<const TlsMaterial>(std::move(material));
  return opened;
}

TlsFiles::Marks TlsFiles::stat_files() const {
  Marks marks;
  const std::array paths{&files_.certificate, &files_.key, &files_.authorities};
  for (std::size_t i = 0; i < marks.size(); ++i) {
    struct stat found {};
    // -1 bytes: differs from every file, so its return is a change.
    if (::stat(paths[i]->c_str(), &found) != 0) continue;
    marks[i] = {found.st_dev, found.st_ino,
                found.st_mtim.tv_sec * 1'000'000'000LL + found.st_mtim.tv_nsec, found.st_size};
  }
  return marks;
}

void TlsFiles::poll() {
  // Loads what is different from the last attempt, once it is the same for two polls.
  const Marks now = stat_files();
  const bool still = now == std::exchange(seen_, now);
  if (!still || now == tried_) return;
  tried_ = now;
  // Without the lock: handshakes read material() meanwhile.
  auto loaded = load_tls(files_);
  const MutexLock lock(mutex_);
  if (!loaded.ok()) {
    ++counts_.reloads_failed;
    log_error("tls", "{}; the certificate that was read before stays in use",
              loaded.status().message());
    return;
  }
  ++counts_.reloads_ok;
  counts_.not_after = loaded->not_after;
  material_ = std::make_shared<const TlsMaterial>(std::move(loaded).value());
  log_info("tls", "certificate read again from {}", files_.certificate);
}

TlsFiles::Counts TlsFiles::counts() const {
  const MutexLock lock(mutex_);
  return counts_;
}

std::shared_ptr<const TlsMaterial> TlsFiles::material() const {
  const MutexLock lock(mutex_);
  return material_;
}

}  // namespace echoline::serve
