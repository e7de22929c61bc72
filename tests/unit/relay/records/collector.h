// A local socket that plays the IPFIX collector.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "config/model/schema.h"

namespace satrelay::records {

class Collector {
 public:
  // `port` 0: any free port.
  explicit Collector(config::IpfixTransport transport, std::uint16_t port = 0)
      : transport_(transport) {
    const bool is_tcp = transport == config::IpfixTransport::kTcp;
    socket_ = ::socket(AF_INET, is_tcp ? SOCK_STREAM : SOCK_DGRAM, 0);
    const int yes = 1;
    ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    ::sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_port = htons(port);
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::socklen_t size = sizeof own;
    auto* const address = reinterpret_cast<::sockaddr*>(&own);
    if (::bind(socket_, address, size) != 0 || (is_tcp && ::listen(socket_, 4) != 0) ||
        ::getsockname(socket_, address, &size) != 0) {
      throw std::runtime_error(std::string("no collector: ") + std::strerror(errno));
    }
    port_ = ntohs(own.sin_port);
  }
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;
  ~Collector() {
    if (accepted_ >= 0) ::close(accepted_);
    ::close(socket_);
  }

  config::IpfixCollector configured() const {
    return {.address = IpAddress::v4({127, 0, 0, 1}), .port = port_, .transport = transport_};
  }
  std::uint16_t port() const { return port_; }
  void accept() { accepted_ = ::accept(socket_, nullptr, nullptr); }
  void hang_up() {
    ::close(accepted_);
    accepted_ = -1;
  }
  // Returns the bytes that have arrived; with UDP, one datagram. "": nothing has arrived.
  std::string receive() {
    std::array<char, 65'536> buffer;
    const int from = transport_ == config::IpfixTransport::kTcp ? accepted_ : socket_;
    const ::ssize_t size = ::recv(from, buffer.data(), buffer.size(), MSG_DONTWAIT);
    return size > 0 ? std::string(buffer.data(), static_cast<std::size_t>(size)) : std::string();
  }

 private:
  config::IpfixTransport transport_;
  int socket_ = -1;
  int accepted_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace satrelay::records
