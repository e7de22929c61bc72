// Urgent data from one host to another, through two gateways. The receiver handles it as Linux does
// (tcp_check_urg). Also tests what hosts and peers may do with urgent marks.
#include "relay/gateway/flows/bytes/urgent.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "pep/base/random.h"
#include "relay/gateway/flows/flow_modes.h"
#include "relay/gateway/frames/frame.h"
#include "tests/unit/relay/gateway/gateway_fixture.h"
#include "tests/unit/relay/gateway/stream_side_fixture.h"

namespace satrelay::gateway::urgent_test {
namespace {

using Flags = wire::TcpFlags;

// The receiving half of Linux. Its application reads all bytes as they arrive, and urgent octets
// separately.
struct Receiver {
  static constexpr std::uint32_t kAnswered = 9'000;

  void take(const wire::TcpHeader& header, std::string_view payload) {
    const std::uint32_t at = header.sequence - start - 1;
    if (header.has(Flags::kUrg)) {
      const std::uint64_t place = at + std::max<std::uint16_t>(header.urgent, 1) - std::uint64_t{1};
      if (place >= next && (!urgent || place > *urgent)) {
        urgent = place;
        ++signals;
      }
    }
    if (at > next || at + payload.size() <= next) return;
    for (const char c : payload.substr(next - at)) {
      (urgent == next ? urgent_bytes : stream) += c;
      ++next;
    }
  }

  std::uint32_t start = 0;  // the sequence number of the SYN
  std::uint64_t next = 0;
  std::optional<std::uint64_t> urgent;
  std::string stream;
  std::string urgent_bytes;
  int signals = 0;  // SIGURG
};

class Urgent : public GatewayTest {
 protected:
  void SetUp() override { begin(); }
  // Starts both gateways and both hosts anew, with a connection between the hosts.
  void begin() {
    b_.reset();
    a_ = std::make_unique<Gateway>(
        config_a_, Identity{.boot_epoch = ++epoch_, .secret = {1, 2}, .wan_mac = kGatewayMac},
        memory_a_, now_);
    receiver_ = {};
    sent_ = 0;
    window_ = 60'000;
    start_peer();
    connect();
  }
  void connect() {
    ASSERT_EQ(lan(tcp_frame(kClient, kServer, syn())), Verdict::kConsumed);
    step();
    take_at_server();
    step();
    std::optional<wire::TcpHeader> answer;
    while (const auto frame = next_frame(PortId::kLan)) {
      const auto tcp = wire::parse_tcp(look_at(*frame).payload);
      if (tcp && tcp->header.has(Flags::kSyn)) answer = tcp->header;
    }
    ASSERT_TRUE(answer);
    acknowledgment_ = answer->sequence + 1;
    say(0, {});
    settle();
    ASSERT_NE(receiver_.start, 0U);
  }
  void settle(int steps = 3) {
    for (int i = 0; i < steps; ++i) {
      step();
      take_at_server();
      while (next_frame(PortId::kLan)) continue;  // the client gets the window
    }
  }
  // Drops all that the near gateway has to send now.
  void lose() {
    now_ += Duration::milliseconds(100);
    if (a_->next_timeout() <= now_) a_->handle_timeout(now_);
    while (next_frame(PortId::kWan)) continue;
    while (next_frame(PortId::kLan)) continue;
  }
  // A segment of the client. Without `pointer` it is not urgent.
  void say(std::uint32_t offset, std::string_view payload,
           std::optional<std::uint16_t> pointer = std::nullopt) {
    wire::TcpHeader tcp = syn();
    tcp.flags = Flags::kAck;
    if (pointer) {
      tcp.flags |= Flags::kUrg;
      tcp.urgent = *pointer;
    }
    tcp.sequence = 1001 + offset;
    tcp.acknowledgment = acknowledgment_;
    tcp.options = {};
    lan(tcp_frame(kClient, kServer, tcp, host_to_server(), payload));
  }
  // The client sends more bytes. send_urgent() marks the last octet as urgent.
  void send(std::string_view bytes) { say(std::exchange(sent_, sent_ + size_of(bytes)), bytes); }
  void send_urgent(std::string_view bytes) {
    say(std::exchange(sent_, sent_ + size_of(bytes)), bytes,
        static_cast<std::uint16_t>(bytes.size()));
  }
  static std::uint32_t size_of(std::string_view bytes) {
    return static_cast<std::uint32_t>(bytes.size());
  }
  // The server takes what has arrived, and answers each segment.
  void take_at_server() {
    FrameBytes bytes(b_->max_frame_size());
    while (const std::size_t size = b_->poll_frame(PortId::kLan, bytes, now_).size) {
      const Frame frame = look_at(ConstBytes(bytes).first(size));
      const auto tcp = wire::parse_tcp(frame.payload);
      ASSERT_TRUE(tcp);
      last_ = tcp->header;
      if (tcp->header.has(Flags::kSyn)) {
        receiver_.start = tcp->header.sequence;
        answer(Flags::kSyn | Flags::kAck);
        continue;
      }
      const ConstBytes payload = ConstBytes(frame.payload).subspan(tcp->header_size);
      receiver_.take(tcp->header, {reinterpret_cast<const char*>(payload.data()), payload.size()});
      if (!payload.empty()) answer(Flags::kAck);
    }
  }
  void answer(std::uint8_t flags) {
    wire::TcpHeader tcp;
    tcp.source_port = 80;
    tcp.destination_port = 40'000;
    const bool opens = (flags & Flags::kSyn) != 0;
    tcp.sequence = Receiver::kAnswered + (opens ? 0U : 1U);
    tcp.acknowledgment = receiver_.start + 1 + static_cast<std::uint32_t>(receiver_.next);
    tcp.flags = flags;
    tcp.window = window_;
    if (opens) tcp.options.mss = 1460;
    b_->handle_frame(PortId::kLan, tcp_frame(kServer, kClient, tcp, host_to_server().reversed()),
                     now_);
  }
  void set_window(std::uint16_t window) {
    window_ = window;
    answer(Flags::kAck);
  }
  tcp::Counters near() const { return a_->status(now_).tcp; }
  tcp::Counters far() const { return b_->status(now_).tcp; }

  std::uint64_t epoch_ = 1;
  Receiver receiver_;
  wire::TcpHeader last_;  // the last header that the server has got
  std::uint32_t sent_ = 0;
  std::uint16_t window_ = 60'000;
  std::uint32_t acknowledgment_ = 0;
};

TEST_F(Urgent, TheOctetIsUrgentAtTheFarHost) {
  send("abc");
  settle();
  send_urgent("!");
  settle();
  send("def");
  settle();
  EXPECT_EQ(receiver_.stream, "abcdef");
  EXPECT_EQ(receiver_.urgent_bytes, "!");
  EXPECT_EQ(receiver_.signals, 1);
  EXPECT_EQ(near().urgent_marks_in, 1U);
  EXPECT_EQ(far().urgent_marks_out, 1U);
}

TEST_F(Urgent, SoAreSeveralThatCrossTheLinkTogether) {
  send("abc");
  send_urgent("12");
  send_urgent("3");
  send("def");
  send_urgent("4");
  settle();
  EXPECT_EQ(receiver_.stream, "abc1def");
  EXPECT_EQ(receiver_.urgent_bytes, "234");
}

TEST_F(Urgent, AHostWithAClosedWindowIsTold) {
  set_window(0);
  send("abc");
  send_urgent("!");
  send("def");
  settle(1);
  EXPECT_EQ(receiver_.signals, 1);
  EXPECT_EQ(receiver_.urgent, 3U);
  EXPECT_EQ(receiver_.next, 0U);
  set_window(1000);
  settle();
  EXPECT_EQ(receiver_.stream, "abcdef");
  EXPECT_EQ(receiver_.urgent_bytes, "!");
}

// The block with the mark waits behind bytes that the host does not read. CONFIRM tells of a later
// mark.
TEST_F(Urgent, AHostThatReadsNothingIsToldOfOneOfTwoMarksAlthoughAFrameWasLost) {
  set_window(0);
  const std::string much(1400, 'x');
  for (int i = 0; i < 12; ++i) send(much);
  settle();
  send_urgent("!");
  lose();
  send_urgent("?");
  settle(20);
  EXPECT_EQ(receiver_.signals, 1);
  EXPECT_EQ(receiver_.urgent, 12 * much.size());
  set_window(60'000);
  settle(10);
  EXPECT_EQ(receiver_.next, sent_);
  EXPECT_EQ(receiver_.urgent_bytes, "!?");
}

// No window lets the marked byte through: the gateways have stored as much as they store of one
// flow.
TEST_F(Urgent, AHostThatHasLeftVeryMuchUnreadIsTold) {
  set_window(0);
  const std::string much(1400, 'x');
  std::string all;
  for (int i = 0; i < 40; ++i) {
    send(much);
    all += much;
    if (i % 4 == 0) settle(1);
  }
  settle();
  say(sent_, {}, 5000);  // the client may send no bytes, but it sends a mark
  settle();
  EXPECT_EQ(receiver_.next, 0U);
  ASSERT_TRUE(receiver_.urgent);
  EXPECT_EQ(*receiver_.urgent, std::min<std::uint64_t>(all.size() + 4999, 65'534));
  send(std::string(4999, 'y'));
  send_urgent("!");
  set_window(60'000);
  for (int i = 0; i < 40; ++i) settle(1);
  EXPECT_EQ(receiver_.stream, all + std::string(4999, 'y'));
  EXPECT_EQ(receiver_.urgent_bytes, "!");
}

TEST_F(Urgent, ThePointersOfALongWayToTheOctetAreNoPlacesOfTheirOwn) {
  const std::string much(1000, 'x');
  std::string all;
  // Linux sends 100,000 octets before an urgent one like this.
  for (int i = 0; i < 100; ++i) {
    const std::uint32_t left = 100'001 - sent_;
    say(std::exchange(sent_, sent_ + 1000), much,
        static_cast<std::uint16_t>(std::min<std::uint32_t>(left, 65'535)));
    all += much;
    if (i % 7 == 0) settle(1);
  }
  settle(5);
  send_urgent("!");
  settle();
  EXPECT_EQ(receiver_.next, sent_);
  EXPECT_TRUE(receiver_.stream == all);
  EXPECT_EQ(receiver_.urgent_bytes, "!");
}

TEST_F(Urgent, ItMayBeTheLastOfTheStream) {
  send("abc");
  wire::TcpHeader tcp = syn();
  tcp.flags = Flags::kAck | Flags::kUrg | Flags::kFin;
  tcp.urgent = 1;
  tcp.sequence = 1001 + 3;
  tcp.acknowledgment = acknowledgment_;
  tcp.options = {};
  lan(tcp_frame(kClient, kServer, tcp, host_to_server(), "!"));
  settle();
  EXPECT_EQ(receiver_.stream, "abc");
  EXPECT_EQ(receiver_.urgent_bytes, "!");
  EXPECT_TRUE(last_.has(Flags::kFin));
}

// The mark takes an ordinary octet out of the stream, as without gateways.
TEST_F(Urgent, AMarkOfBytesYetToComeIsRemembered) {
  send("ab");
  settle();
  say(sent_, {}, 3);
  settle();
  EXPECT_EQ(receiver_.signals, 0) << "there is nothing to be sent";
  send("cdef");
  settle();
  EXPECT_EQ(receiver_.stream, "abcdf");
  EXPECT_EQ(receiver_.urgent_bytes, "e");
}

TEST_F(Urgent, AHostThatCallsAllUrgentLosesNoByteAndMakesTheFlowNoLarger) {
  set_window(0);
  std::string all;
  for (int i = 0; i < 50; ++i) {
    const std::string bytes(10, static_cast<char>('0' + i));
    send_urgent(bytes);
    all += bytes;
  }
  settle();
  EXPECT_GE(near().urgent_marks_merged + far().urgent_marks_merged,
            50U - 3 * tcp::UrgentMarks::kMost);
  set_window(60'000);
  settle();
  EXPECT_EQ(receiver_.next, all.size());
  EXPECT_GE(receiver_.urgent_bytes.size(), tcp::UrgentMarks::kMost);
  EXPECT_EQ(receiver_.urgent_bytes.back(), all.back());
}

// A window probe is answered, but it is old. A host would ignore its urgent pointer, too.
TEST_F(Urgent, AProbeOfTheWindowMarksNothing) {
  send("abc");
  settle();
  say(sent_ - 1, {}, 3);
  say(sent_ - 1, {}, 65'535);
  send("def");
  settle();
  EXPECT_EQ(receiver_.stream, "abcdef");
  EXPECT_EQ(receiver_.signals, 0);
  EXPECT_EQ(near().urgent_marks_in, 0U);
  say(sent_ - 3, "def", 4);
  send("ghi");
  settle();
  EXPECT_EQ(receiver_.stream, "abcdefhi");
  EXPECT_EQ(receiver_.urgent_bytes, "g");
}

TEST_F(Urgent, SegmentsThatNobodyHasSentSayNothing) {
  wire::TcpHeader tcp = syn();
  tcp.flags = Flags::kAck | Flags::kUrg;
  tcp.urgent = 2;
  tcp.sequence = 1001 + 500'000;
  tcp.acknowledgment = acknowledgment_;
  tcp.options = {};
  lan(tcp_frame(kClient, kServer, tcp, host_to_server(), "x"));
  tcp.sequence = 1001;
  tcp.acknowledgment = acknowledgment_ + 100'000;
  lan(tcp_frame(kClient, kServer, tcp, host_to_server(), "x"));
  send("abcdef");
  settle();
  EXPECT_EQ(receiver_.stream, "abcdef");
  EXPECT_EQ(near().urgent_marks_in, 0U);
}

// Octets, urgent or not, in segments of any size, to a host that sometimes closes its window. Each
// octet arrives as it was sent.
TEST_F(Urgent, WhateverIsSentArrivesAsThat) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    if (seed > 1) begin();
    Random random(seed);
    std::string stream;
    std::string urgent;
    const auto bytes = [&](std::size_t size) {
      std::string some;
      for (std::size_t i = 0; i < size; ++i) {
        some += static_cast<char>('a' + random.below(random.chance(0.5) ? 2 : 26));
      }
      return some;
    };
    for (int turn = 0; turn < 30; ++turn) {
      for (std::uint64_t i = random.below(4); i > 0; --i) {
        const std::string some = bytes(1 + random.below(random.chance(0.3) ? 1400 : 20));
        // No more marks wait for a host that reads nothing than each gateway keeps.
        const bool is_urgent = random.chance(0.5) && urgent.size() < receiver_.urgent_bytes.size() +
                                                                         tcp::UrgentMarks::kMost;
        stream += is_urgent ? some.substr(0, some.size() - 1) : some;
        if (is_urgent) urgent += some.back();
        is_urgent ? send_urgent(some) : send(some);
      }
      if (random.chance(0.2)) {
        set_window(random.chance(0.5) ? 0 : static_cast<std::uint16_t>(random.below(3000)));
      }
      if (random.chance(0.7)) settle(1);
    }
    set_window(60'000);
    settle(10);
    ASSERT_EQ(receiver_.next, sent_) << "seed " << seed;
    ASSERT_TRUE(receiver_.stream == stream) << "seed " << seed;
    ASSERT_EQ(receiver_.urgent_bytes, urgent) << "seed " << seed;
  }
}

// --- peers ---------------------------------------------------------------------------------------

class UrgentPeer : public StreamSideTest {
 protected:
  static std::vector<std::byte> urgent_block(std::uint32_t ahead) {
    std::array<std::byte, 4> body{};
    store_u32(body.data(), ahead);
    return block(compress::BlockKind::kUrgent, body);
  }
  tcp::Counters counters_;
};

TEST_F(UrgentPeer, OneThatDoesNotKnowOfItIsSentBytesOnly) {
  open();
  ASSERT_FALSE(session().agreed().urgent_marks());
  note_urgent(f_, 2, 0, counters_);
  host_.say(sample(4), now_);
  side_->feed(f_, now_);
  confirm(f_, session(), now_);
  EXPECT_EQ(far_heard(), block(compress::BlockKind::kRaw, sample(4)));
  EXPECT_EQ(peer_.far().streams().confirmation(f_.stream), stp::Confirmation());
}

TEST_F(UrgentPeer, ABlockMarksTheBytesBehindIt) {
  open();
  far_says(sample(2));
  far_writes(urgent_block(3), f_.inbound_stream());
  ASSERT_TRUE(deliver());
  EXPECT_EQ(host_.heard.size(), 2U);
  EXPECT_EQ(f_.endpoint.counters().urgent_marks_out, 1U);
}

TEST_F(UrgentPeer, ABlockThatMarksNothingIsMalformed) {
  open();
  far_writes(urgent_block(0), f_.inbound_stream());
  EXPECT_FALSE(deliver());
  EXPECT_EQ(f_.endpoint.counters().urgent_marks_out, 0U);
}

TEST_F(UrgentPeer, SoIsOneOfBytesFartherAheadThanAnyWindow) {
  open();
  far_writes(urgent_block(tcp::UrgentMarks::kMostAhead + 1), f_.inbound_stream());
  EXPECT_FALSE(deliver());
}

TEST_F(UrgentPeer, WhatWaitsBehindAnotherMarkIsNotToldBefore) {
  open();
  hear_urgent(f_, {.after = 5, .mark = 9}, counters_);
  far_says(sample(4));
  ASSERT_TRUE(deliver());
  show_far_urgent(f_);
  show_far_urgent(f_);
  EXPECT_EQ(f_.endpoint.counters().urgent_marks_out, 1U) << "the other is";
  EXPECT_EQ(f_.endpoint.mark_urgent(5), tcp::UrgentMarks::Added::kNothing);
  far_says(sample(1));
  ASSERT_TRUE(deliver());
  show_far_urgent(f_);
  show_far_urgent(f_);
  EXPECT_EQ(f_.endpoint.counters().urgent_marks_out, 2U);
}

TEST_F(UrgentPeer, AMarkBehindAnotherHidesNoneThatTheHostKnows) {
  open();
  hear_urgent(f_, {.after = 0, .mark = 5}, counters_);
  show_far_urgent(f_);
  hear_urgent(f_, {.after = 7, .mark = 9}, counters_);
  show_far_urgent(f_);
  EXPECT_EQ(f_.endpoint.counters().urgent_marks_out, 1U);
  EXPECT_EQ(f_.endpoint.mark_urgent(6), tcp::UrgentMarks::Added::kMoved);
}

TEST_F(UrgentPeer, AMarkThatIsFartherAheadThanAnyWindowIsRefusedOnceAndHindersNoOther) {
  constexpr std::uint64_t kFar = std::uint64_t{1} << 60U;
  open();
  for (int i = 0; i < 3; ++i) {
    hear_urgent(f_, {.after = 0, .mark = kFar}, counters_);
    show_far_urgent(f_);
  }
  EXPECT_EQ(counters_.urgent_marks_refused, 1U);
  for (int i = 0; i < 3; ++i) {
    hear_urgent(f_, {.after = kFar, .mark = kFar + 1}, counters_);
    show_far_urgent(f_);
  }
  EXPECT_EQ(counters_.urgent_marks_refused, 2U);
  hear_urgent(f_, {.after = 9, .mark = 9}, counters_);
  show_far_urgent(f_);
  EXPECT_EQ(counters_.urgent_marks_refused, 3U);
  EXPECT_EQ(f_.endpoint.counters().urgent_marks_out, 0U);
  hear_urgent(f_, {.after = 0, .mark = 9}, counters_);
  show_far_urgent(f_);
  EXPECT_EQ(counters_.urgent_marks_refused, 3U);
  EXPECT_EQ(f_.endpoint.counters().urgent_marks_out, 1U);
}

}  // namespace
}  // namespace satrelay::gateway::urgent_test
