// A UDP socket that sends and receives many datagrams a call, in larger pieces where the kernel
// offers that (UDP_SEGMENT, UDP_GRO). Does not block; all errors of set-up are exceptions.
#pragma once

#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "pep/base/units.h"
#include "relay/satperf/send_batch.h"

namespace satrelay::satperf {

// A name or an address leads nowhere.
class Unreachable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// An address with its port.
class SocketAddress {
 public:
  SocketAddress() = default;
  SocketAddress(const sockaddr* address, socklen_t size);

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t size() const { return size_; }
  int family() const { return storage_.ss_family; }
  // IPv4, also where an IPv6 socket shows it as ::ffff:192.0.2.1.
  bool is_v4() const;
  std::uint16_t ip_and_udp_headers() const { return is_v4() ? 20 + 8 : 40 + 8; }
  std::string to_string() const;  // "192.0.2.1:7879", "[2001:db8::1]:7879"
  bool operator==(const SocketAddress& other) const;

 private:
  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};

// All addresses of a name or a literal, in the order in which they should be tried. An empty `host`
// stands for any address of this machine. Throws Unreachable with the resolver's words.
std::vector<SocketAddress> resolve(const std::string& host, std::uint16_t port);

// Largest IP packet that leaves towards `peer`, as far as this machine knows; 0 if it cannot tell.
std::size_t interface_mtu(const SocketAddress& peer);

class UdpSocket {
 public:
  struct Errors {
    bool refused = false;  // ICMP: nobody listens there
    int last = 0;          // errno of the last datagram that the kernel did not take
    std::uint64_t not_sent = 0;
  };
  enum class Sent : std::uint8_t { kAll, kBlocked };

  explicit UdpSocket(const SocketAddress& bind_to);
  ~UdpSocket();
  UdpSocket(const UdpSocket&) = delete;
  UdpSocket& operator=(const UdpSocket&) = delete;

  // Fixes the peer. Only then are refusals reported. Throws Unreachable.
  void connect(const SocketAddress& peer);
  // Asks for kernel buffers that hold what `rate` brings while this process waits for its turn.
  // Answers warnings where the kernel's limit is lower.
  std::vector<std::string> size_buffers(BitRate send_rate, BitRate receive_rate);

  // Sends what is in the batch to `peer` (or to the connected one: nullptr).
  Sent send(SendBatch& batch, const SocketAddress* peer);
  void send_one(ConstBytes datagram, const SocketAddress* peer);
  SendBatch::Grouping grouping() const { return grouping_; }

  // One call of the kernel; `handler(datagram, from)` for each datagram. True if there may be more.
  template <typename Handler>
  bool receive(Handler&& handler) {
    const std::size_t messages = receive_messages();
    for (std::size_t i = 0; i < messages; ++i) {
      const Received message = received(i);
      for (std::size_t at = 0; at < message.bytes.size(); at += message.segment) {
        handler(message.bytes.subspan(at, std::min(message.segment, message.bytes.size() - at)),
                message.from);
      }
    }
    return messages == kMessages;
  }
  // Until something has come, `until`, or a signal; with `writable` also until there is room to
  // send.
  void wait(Instant now, Instant until, bool writable) const;

  // What went wrong since the last call.
  Errors take_errors();

 private:
  static constexpr std::size_t kMessages = 32;
  static constexpr std::size_t kMessageBytes = 65'536;
  struct Received {
    ConstBytes bytes;
    std::size_t segment;
    SocketAddress from;
  };
  struct Slots;
  std::size_t receive_messages();
  Received received(std::size_t index) const;
  void note_error(int error);

  int descriptor_ = -1;
  SocketAddress peer_;  // if connected
  SendBatch::Grouping grouping_ = SendBatch::Grouping::kOn;
  Errors errors_;
  std::unique_ptr<Slots> slots_;
};

}  // namespace satrelay::satperf
