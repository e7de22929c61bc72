// The connection to an IPFIX collector, over UDP or TCP. After a failure the socket opens the
// connection again, and doubles the wait with each further failure. The socket never blocks. A
// message is either sent whole or lost. The records in lost messages are counted.
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
  // The collector counts as gone if the kernel takes no more bytes for this long.
  static constexpr Duration kStallPatience = Duration::seconds(10);
  // If a connection was open for this long before it failed, the wait is kFirstWait again.
  static constexpr Duration kSteadyAfter = Duration::seconds(10);
  // The largest number of bytes that are queued for a collector that reads slowly.
  static constexpr std::size_t kMostWaiting = std::size_t{4} << 20;

  // `counters` must outlive this object.
  CollectorSocket(const config::IpfixCollector& collector, RecordCounters& counters);
  CollectorSocket(const CollectorSocket&) = delete;
  CollectorSocket& operator=(const CollectorSocket&) = delete;
  ~CollectorSocket();

  // Opens the connection if there is none, sends bytes that wait, and checks whether the collector
  // is gone. Call this often. Returns true once for each new connection. The caller must then send
  // the templates, which the collector does not have yet.
  [[nodiscard]] bool look(Instant now);
  State state() const { return state_; }
  // True if the connection has been open for kSteadyAfter. A UDP socket counts as open until an
  // error arrives.
  bool is_steady(Instant now) const {
    return state_ == State::kOpen && now >= opened_ + kSteadyAfter;
  }
  // Why the collector is away, for the operator.
  const std::string& reason() const { return reason_; }
  // Sends a message that contains `records` records. Call this only while the connection is open.
  void send(ConstBytes message, std::size_t records, Instant now);
  bool is_idle() const { return waiting_.empty(); }  // no message waits to be sent

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
  Instant deadline_;  // time at which the handshake times out, or time of the next attempt
  Duration wait_ = kFirstWait;
  std::deque<Message> waiting_;
  std::size_t waiting_size_ = 0;
  std::size_t front_sent_ = 0;  // number of bytes of the first message that were sent
  Instant opened_;
  Instant progress_;  // time at which the kernel last took bytes
};

}  // namespace satrelay::records
