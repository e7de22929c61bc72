// The connection to an IPFIX collector: UDP, or TCP. A broken TCP connection is opened again, after
// a longer wait each time. The socket never blocks. A message is sent whole or is lost; records in
// lost messages are counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "config/model/schema.h"
#include "pep/base/bytes.h"
#include "pep/base/time.h"
#include "relay/records/record_counters.h"

namespace satrelay::records {

class CollectorSocket {
 public:
  enum class State : std::uint8_t {
    kAway,        // the collector cannot be reached; the socket tries again
    kConnecting,  // TCP handshake under way
    kOpen,
  };
  static constexpr Duration kFirstWait = Duration::milliseconds(500);
  static constexpr Duration kLongestWait = Duration::seconds(30);
  static constexpr Duration kConnectPatience = Duration::seconds(5);
  // A collector that takes no bytes for this long counts as gone.
  static constexpr Duration kStallPatience = Duration::seconds(10);
  // If a collector goes away sooner than this, the next wait is longer.
  static constexpr Duration kSteadyAfter = Duration::seconds(10);
  // Most bytes that wait for a collector that reads slowly.
  static constexpr std::size_t kMostWaiting = std::size_t{4} << 20;

  // `counters` must outlive this object.
  CollectorSocket(const config::IpfixCollector& collector, RecordCounters& counters);
  CollectorSocket(const CollectorSocket&) = delete;
  CollectorSocket& operator=(const CollectorSocket&) = delete;
  ~CollectorSocket();

  // Opens the connection, sends, and notices if the collector is gone. Call this often. Returns
  // true once when the connection is newly open: the collector then knows no templates.
  [[nodiscard]] bool look(Instant now);
  State state() const { return state_; }
  // True if the connection has been open for a while. A UDP socket seems open until an error
  // arrives.
  bool is_steady(Instant now) const {
    return state_ == State::kOpen && now >= opened_ + kSteadyAfter;
  }
  // Why the collector is away, for the operator.
  const std::string& reason() const { return reason_; }
  // Only while the connection is open.
  void send(ConstBytes message, std::size_t records, Instant now);
  bool is_idle() const { return waiting_.empty(); }  // no message waits for the kernel

 private:
  struct Message {
    std::vector<std::byte> bytes;
    std::size_t records;
  };
  void open(Instant now);
  void give_up(std::string_view what, int error, Instant now);
  void begin(Instant now);
  void send_datagram(ConstBytes message, std::size_t records, Instant now);
  void flush(Instant now);
  void count(std::size_t size, std::size_t records);
  bool is_tcp() const { return collector_.transport == config::IpfixTransport::kTcp; }

  config::IpfixCollector collector_;
  RecordCounters& counters_;
  int socket_ = -1;
  State state_ = State::kAway;
  bool is_anew_ = false;
  std::string reason_;
  Instant deadline_;  // of the handshake, or for the next attempt
  Duration wait_ = kFirstWait;
  std::deque<Message> waiting_;
  std::size_t waiting_size_ = 0;
  std::size_t front_sent_ = 0;  // bytes of the first message that were sent
  Instant opened_;
  Instant progress_;  // when the kernel last took bytes
};

}  // namespace satrelay::records
