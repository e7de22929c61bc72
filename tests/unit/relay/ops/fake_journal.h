// A socket that receives the entries for the journal.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace satrelay::ops {

class FakeJournal {
 public:
  explicit FakeJournal(const std::string& path) : path_(path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    descriptor_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error("no socket at " + path);
    }
  }
  FakeJournal(const FakeJournal&) = delete;
  FakeJournal& operator=(const FakeJournal&) = delete;
  ~FakeJournal() {
    ::close(descriptor_);
    std::filesystem::remove(path_);
  }

  // Returns the next entry that has arrived; "" if there is none.
  std::string next() const {
    std::string entry(65'536, '\0');
    const ssize_t size = ::recv(descriptor_, entry.data(), entry.size(), MSG_DONTWAIT);
    entry.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    return entry;
  }

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace satrelay::ops
