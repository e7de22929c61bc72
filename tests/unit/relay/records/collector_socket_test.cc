#include "relay/records/collector_socket.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/unit/relay/records/collector.h"

namespace satrelay::records::collector_socket_test {
namespace {

using config::IpfixTransport;
using State = CollectorSocket::State;

class CollectorSocketTest : public ::testing::TestWithParam<IpfixTransport> {
 protected:
  void begin(const config::IpfixCollector& collector) { socket_.emplace(collector, counters_); }
  // Returns true if the socket was opened anew meanwhile.
  bool look_until(State state, Duration pause = Duration::milliseconds(1)) {
    bool anew = false;
    for (int i = 0; i < 2000; ++i) {
      anew |= socket_->look(now_);
      if (socket_->state() == state) return anew;
      now_ += pause;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ADD_FAILURE() << "it never came to that: " << socket_->reason();
    return anew;
  }
  void send(std::string_view text, std::size_t records = 1) {
    socket_->send(std::as_bytes(std::span(text)), records, now_);
  }
  std::string received(Collector& collector) {
    for (int i = 0; i < 2000; ++i) {
      if (std::string text = collector.receive(); !text.empty()) return text;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return {};
  }
  Instant now_ = Instant() + Duration::seconds(1000);
  RecordCounters counters_;
  std::optional<CollectorSocket> socket_;
};

TEST_P(CollectorSocketTest, AMessageComesToACollector) {
  Collector collector(GetParam());
  begin(collector.configured());
  EXPECT_TRUE(look_until(State::kOpen)) << "it has heard nothing yet";
  EXPECT_FALSE(socket_->look(now_)) << "that is said once";
  if (GetParam() == IpfixTransport::kTcp) collector.accept();
  send("hello", 3);
  EXPECT_EQ(received(collector), "hello");
  EXPECT_EQ(counters_.exported, 3U);
  EXPECT_EQ(counters_.exported_messages, 1U);
  EXPECT_EQ(counters_.exported_bytes, 5U);
  EXPECT_EQ(counters_.connections, 1U);
  EXPECT_TRUE(socket_->is_idle());
}

TEST_P(CollectorSocketTest, OneThatGoesAwayAndComesAgainIsFound) {
  auto collector = std::make_unique<Collector>(GetParam());
  const std::uint16_t port = collector->port();
  begin(collector->configured());
  look_until(State::kOpen);
  if (GetParam() == IpfixTransport::kTcp) collector->accept();
  send("one");
  received(*collector);
  collector.reset();
  if (GetParam() == IpfixTransport::kUdp)
    send("into the void");  // ICMP reports that the port is
                            // closed
  look_until(State::kAway);
  EXPECT_FALSE(socket_->reason().empty());
  collector = std::make_unique<Collector>(GetParam(), port);
  EXPECT_TRUE(look_until(State::kOpen, Duration::milliseconds(100)));
  if (GetParam() == IpfixTransport::kTcp) collector->accept();
  send("two");
  EXPECT_EQ(received(*collector), "two");
  EXPECT_EQ(counters_.connections, 2U);
}

INSTANTIATE_TEST_SUITE_P(OverEither, CollectorSocketTest,
                         ::testing::Values(IpfixTransport::kUdp, IpfixTransport::kTcp),
                         [](const auto& each) {
                           return each.param == IpfixTransport::kTcp ? "Tcp" : "Udp";
                         });

class TcpCollector : public CollectorSocketTest {};

// The collector accepts each connection and closes it.
TEST_F(TcpCollector, IsTriedLaterEachTime) {
  Collector collector(IpfixTransport::kTcp);
  begin(collector.configured());
  std::vector<Instant> opened;
  for (int i = 0; i < 20'000 && opened.size() < 5; ++i) {
    bool anew = socket_->look(now_);
    if (socket_->state() == State::kConnecting) anew = look_until(State::kOpen, Duration());
    if (anew) {
      opened.push_back(now_);
      collector.accept();
      collector.hang_up();
      look_until(State::kAway, Duration());
    }
    now_ += Duration::milliseconds(1);
  }
  ASSERT_EQ(opened.size(), 5U);
  Duration expected = CollectorSocket::kFirstWait;
  for (std::size_t i = 1; i < opened.size(); ++i) {
    EXPECT_GE(opened[i] - opened[i - 1], expected);
    EXPECT_LE(opened[i] - opened[i - 1], expected + Duration::milliseconds(50));
    expected = expected * 2;
  }
}

TEST_F(TcpCollector, OneThatReadsNothingIsGivenUpAndWhatWaitedIsCounted) {
  Collector collector(IpfixTransport::kTcp);
  begin(collector.configured());
  look_until(State::kOpen);
  collector.accept();
  const std::string message(16'384, 'x');
  for (int i = 0; i < 1000; ++i) send(message);
  EXPECT_GT(counters_.unexported, 0U) << "there is no room for all that";
  EXPECT_FALSE(socket_->is_idle());
  const std::uint64_t given = counters_.exported;
  EXPECT_GT(given, 0U);
  now_ += CollectorSocket::kStallPatience + Duration::milliseconds(1);
  EXPECT_FALSE(socket_->look(now_));
  EXPECT_EQ(socket_->state(), State::kAway);
  EXPECT_EQ(counters_.exported + counters_.unexported, 1000U) << "each is one or the other";
}

}  // namespace
}  // namespace satrelay::records::collector_socket_test
