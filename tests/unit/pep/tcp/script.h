// Tests as scripts of packets: the test plays the peer. A segment is written as one line of text,
// with relative numbers as in a packet trace: the SYN is at 0, the first byte at 1.
//
//     S 0:0 win 65535 mss 1460 sackok ts 100 0 ws 7
//     . 1:1449 ack 1 win 500 sack 2897:4345,5793:7241
//
// Flags: U S F R P, "." for ACK, E and W for ECE and CWR. "ce" at the end of a segment is a mark.
// The endpoint's output is written in the same way, without `win`, for which a script asks with
// window(). A failing test prints its whole script.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "pep/tcp/endpoint.h"

namespace satrelay::tcp::test {

// The byte at `offset` of either stream.
constexpr std::byte pattern(std::uint64_t offset) {
  return static_cast<std::byte>((offset * 131 + (offset >> 8) * 7 + (offset >> 32)) & 0xff);
}
std::vector<std::byte> pattern_bytes(std::uint64_t offset, std::size_t size);

inline constexpr std::uint32_t kOurIsn = 10'000;
inline constexpr std::uint32_t kPeerIsn = 500'000;

class Script {
 public:
  struct Setup {
    Config config{};
    std::size_t arena_bytes = 8U << 20;
    std::size_t block_size = 4096;
    std::uint32_t peer_isn = kPeerIsn;
  };
  // Timeouts and windows that are easy to calculate with: scale 0, initial sequence kOurIsn,
  // NewReno.
  static Config plain_config();
  Script() : Script(Setup{plain_config()}) {}
  explicit Script(const Setup& setup);
  ~Script();

  // Opens a connection, up to ESTABLISHED. `options` are those of the peer's SYN, and `window` is
  // that of the peer's next ACK.
  void establish_as_server(const std::string& options = "mss 1460 sackok", unsigned window = 65535);
  void establish_as_client(const std::string& options = "mss 1460 sackok");

  void accept(const std::string& syn);
  void connect(const std::string& offer);
  // A segment from the peer. Its payload follows pattern().
  Acceptance in(const std::string& line);
  // Segments that come at once. Returns how many of them the endpoint took first.
  std::size_t in_train(const std::vector<std::string>& lines);
  // The next segment of the endpoint, or "-".
  std::string out();
  // All segments that the endpoint has to send now.
  std::vector<std::string> out_all();
  // The same, up to `most` segments at once.
  std::vector<std::string> out_train(std::size_t most = 16);

  void write(std::size_t bytes);  // must be taken whole
  void send_keep_alive();
  void consume(std::size_t bytes);  // must be readable and right

  void wait(Duration duration);  // runs the timers that expire meanwhile
  Duration wait_for_timer();     // goes to the next timer and runs it; returns how long that took
  Instant now() const { return now_; }

  Endpoint& endpoint() { return *endpoint_; }
  Arena& arena() { return *arena_; }
  std::uint64_t window() const { return window_; }  // bytes, in the last segment out
  const wire::TcpHeader& last() const { return last_; }

 private:
  std::string note(const SegmentToSend& segment);
  std::string describe(const SegmentToSend& segment);
  void note_scale(const wire::TcpHeader& header);  // of the peer's SYN
  wire::TcpHeader parse(const std::string& line, std::vector<std::byte>& payload) const;

  std::vector<std::byte> memory_;
  std::unique_ptr<Arena> arena_;
  std::unique_ptr<Endpoint> endpoint_;
  std::uint32_t our_isn_;
  std::uint32_t peer_isn_;
  std::uint8_t our_scale_;
  bool peer_scales_ = false;  // its windows, according to its SYN
  Instant now_ = Instant::from_nanoseconds(1'000'000'000);
  std::uint64_t written_ = 0;
  std::uint64_t window_ = 0;
  wire::TcpHeader last_;
  std::vector<std::string> log_;
};

using Lines = std::vector<std::string>;
constexpr Duration ms(std::int64_t n) { return Duration::milliseconds(n); }

}  // namespace satrelay::tcp::test
