// A non-blocking UDP socket that sends and receives many datagrams in one call. If the kernel can
// do it, datagrams are passed in larger pieces (UDP_SEGMENT, UDP_GRO). The constructor throws
// Unreachable or BadOption.
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

// Thrown if a name cannot be resolved, or an address cannot be reached.
class Unreachable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// An IP address with a port.
class SocketAddress {
 public:
  SocketAddress() = default;
  SocketAddress(const sockaddr* address, socklen_t size);

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t size() const { return size_; }
  int family() const { return storage_.ss_family; }
  // True for IPv4, including addresses that an IPv6 socket shows as ::ffff:192.0.2.1.
  bool is_v4() const;
  std::uint16_t ip_and_udp_headers() const { return is_v4() ? 20 + 8 : 40 + 8; }
  std::string to_string() const;  // "192.0.2.1:7879", "[2001:db8::1]:7879"
  bool operator==(const SocketAddress& other) const;

 private:
  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};

// Returns all addresses of a name or a literal, in the order in which to try them. An empty `host`
// means any address of this machine. Throws Unreachable with the resolver's message.
std::vector<SocketAddress> resolve(const std::string& host, std::uint16_t port);

// Returns the size in bytes of the largest IP packet that the kernel sends to `peer`, or 0 if the
// kernel does not know it.
std::size_t interface_mtu(const SocketAddress& peer);

class UdpSocket {
 public:
  struct Errors {
    bool refused = false;  // an ICMP message reported that the port is closed
    int last = 0;          // errno of the last datagram that the kernel did not accept
    std::uint64_t not_sent = 0;
  };
  enum class Sent : std::uint8_t { kAll, kBlocked };

  explicit UdpSocket(const SocketAddress& bind_to);
  ~UdpSocket();
  UdpSocket(const UdpSocket&) = delete;
  UdpSocket& operator=(const UdpSocket&) = delete;

  // Connects the socket to `peer`. Errors::refused is set only for a connected socket. Throws
  // Unreachable.
  void connect(const SocketAddress& peer);
  // Requests kernel buffers that can hold the traffic at these rates while this process waits for
  // the CPU. Returns warnings if the kernel allows less.
  std::vector<std::string> size_buffers(BitRate send_rate, BitRate receive_rate);

  // Sends the batch to `peer`, or to the connected peer if `peer` is nullptr.
  Sent send(SendBatch& batch, const SocketAddress* peer);
  void send_one(ConstBytes datagram, const SocketAddress* peer);
  SendBatch::Grouping grouping() const { return grouping_; }

  // Makes one system call, and calls `handler(datagram, from)` for each received datagram. Returns
  // true if more datagrams may be waiting.
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
  // Waits until a datagram arrives, the time `until` is reached, or a signal arrives. If
  // `writable`, the wait also ends when there is room to send.
  void wait(Instant now, Instant until, bool writable) const;

  // Returns the errors since the previous call.
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
  SocketAddress peer_;  // set if the socket is connected
  SendBatch::Grouping grouping_ = SendBatch::Grouping::kOn;
  Errors errors_;
  std::unique_ptr<Slots> slots_;
};

}  // namespace satrelay::satperf
