// The way to an IPFIX collector: UDP, or TCP that is opened again when it breaks, later each time.
// Never waits. A message goes whole or is lost, and its records are counted.
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
    kAway,        // cannot be reached; is tried again
    kConnecting,  // TCP's handshake is under way
    kOpen,
  };
  static constexpr Duration kFirstWait = Duration::milliseconds(500);
  static constexpr Duration kLongestWait = Duration::seconds(30);
  static constexpr Duration kConnectPatience = Duration::seconds(5);
  // A collector that takes nothing for so long is as good as gone.
  static constexpr Duration kStallPatience = Duration::seconds(10);
  // One that goes away sooner is tried again later.
  static constexpr Duration kSteadyAfter = Duration::seconds(10);
  // What waits for a collector that reads slowly.
  static constexpr std::size_t kMostWaiting = std::size_t{4} << 20;

  // `counters` must outlive it.
  CollectorSocket(const config::IpfixCollector& collector, RecordCounters& counters);
  CollectorSocket(const CollectorSocket&) = delete;
  CollectorSocket& operator=(const CollectorSocket&) = delete;
  ~CollectorSocket();

  // Opens, goes on, and finds out that the collector is gone: to be called often. True once when
  // the way is open anew: the collector knows nothing of what was said before.
  [[nodiscard]] bool look(Instant now);
  State state() const { return state_; }
  // The way has been open for a while. Over UDP it seems open until somebody objects.
  bool is_steady(Instant now) const {
    return state_ == State::kOpen && now >= opened_ + kSteadyAfter;
  }
  // Why it is away, for the operator.
  const std::string& reason() const { return reason_; }
  // Only while it is open.
  void send(ConstBytes message, std::size_t records, Instant now);
  bool is_idle() const { return waiting_.empty(); }  // nothing waits to be taken by the kernel

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
  Instant deadline_;  // of the handshake, or of the next try
  Duration wait_ = kFirstWait;
  std::deque<Message> waiting_;
  std::size_t waiting_size_ = 0;
  std::size_t front_sent_ = 0;  // of the first of them
  Instant opened_;
  Instant progress_;  // when the kernel has taken something last
};

}  // namespace satrelay::records
