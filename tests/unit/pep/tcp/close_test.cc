// Closing a connection, in every order.
#include "tests/unit/pep/tcp/script.h"

namespace satrelay::tcp::test::close_test {
namespace {

std::vector<State> visited(Script& s) {
  const auto trace = s.endpoint().lifecycle().trace();
  return {trace.begin(), trace.end()};
}
using States = std::vector<State>;

TEST(Close, WeCloseFirst) {
  Script s;
  s.establish_as_server();
  s.write(10);
  s.endpoint().close();
  EXPECT_EQ(s.endpoint().write(pattern_bytes(0, 1)), 0u);
  EXPECT_EQ(s.out(), "FP. 1:11 ack 1");
  s.in(". 1:1 ack 12");
  EXPECT_EQ(s.endpoint().state(), State::kFinWait2);
  EXPECT_TRUE(s.endpoint().sending().has_finished());
  s.in("F. 1:1 ack 12");
  EXPECT_EQ(s.endpoint().state(), State::kTimeWait);
  EXPECT_EQ(s.out(), ". 12:12 ack 2");
  EXPECT_EQ(s.wait_for_timer(), Duration::seconds(30));
  EXPECT_EQ(visited(s), (States{State::kSynReceived, State::kEstablished, State::kFinWait1,
                                State::kFinWait2, State::kTimeWait, State::kClosed}));
  EXPECT_EQ(s.endpoint().lifecycle().reason(), CloseReason::kNone);
  EXPECT_TRUE(s.endpoint().next_timeout().is_never());
  EXPECT_EQ(s.arena().used_blocks(), 0u);
}

TEST(Close, PeerClosesFirst) {
  Script s;
  s.establish_as_server();
  s.in("FP. 1:11 ack 1");
  EXPECT_EQ(s.endpoint().state(), State::kCloseWait);
  EXPECT_EQ(s.out(), ". 1:1 ack 12");
  s.endpoint().close();
  EXPECT_EQ(s.endpoint().state(), State::kLastAck);
  EXPECT_EQ(s.out(), "F. 1:1 ack 12");
  s.in(". 12:12 ack 2");
  EXPECT_EQ(s.endpoint().state(), State::kClosed);
  EXPECT_EQ(s.endpoint().lifecycle().reason(), CloseReason::kNone);
  EXPECT_TRUE(s.endpoint().sending().has_finished());
  s.consume(10);  // closed in order: acknowledged bytes can still be read
  EXPECT_EQ(s.arena().used_blocks(), 0u);
}

TEST(Close, BothAtOnce) {
  Script s;
  s.establish_as_server();
  s.endpoint().close();
  EXPECT_EQ(s.out(), "F. 1:1 ack 1");
  s.in("F. 1:1 ack 1");
  EXPECT_EQ(s.endpoint().state(), State::kClosing);
  EXPECT_EQ(s.out(), ". 2:2 ack 2");
  s.in(". 2:2 ack 2");
  EXPECT_EQ(s.endpoint().state(), State::kTimeWait);
}

TEST(Close, FinThatAcknowledgesOursSkipsFinWait2) {
  Script s;
  s.establish_as_server();
  s.endpoint().close();
  s.out();
  s.in("F. 1:1 ack 2");
  EXPECT_EQ(s.endpoint().state(), State::kTimeWait);
  EXPECT_EQ(s.out(), ". 2:2 ack 2");
}

// Else, with `ack: end-to-end`, the far host would be told that all bytes had arrived.
TEST(Close, AResetIsNoAcknowledgmentOfWhatWasToBeSent) {
  Script s;
  s.establish_as_server();
  s.write(10);
  s.out();
  s.in(". 1:1 ack 6");
  s.endpoint().close();
  s.out();
  s.in("R. 1:1 ack 6");
  EXPECT_TRUE(s.endpoint().is_closed());
  EXPECT_FALSE(s.endpoint().sending().has_finished());
  s.endpoint().close();  // the far host may end its direction only now
  EXPECT_FALSE(s.endpoint().sending().has_finished());
}

TEST(Close, HalfCloseByUsStillReceives) {
  Script s;
  s.establish_as_server();
  s.endpoint().close();
  s.out();
  s.in(". 1:1 ack 2");
  for (int i = 0; i < 3; ++i) {
    s.wait(Duration::seconds(600));  // a server that thinks for long
    const std::string begin = std::to_string(1 + i * 100);
    s.in(". " + begin + ":" + std::to_string(101 + i * 100) + " ack 2");
    EXPECT_EQ(s.out(), ". 2:2 ack " + std::to_string(101 + i * 100));
    s.consume(100);
  }
  s.in("F. 301:301 ack 2");
  EXPECT_EQ(s.endpoint().state(), State::kTimeWait);
}

TEST(Close, HalfCloseByThePeerStillSends) {
  Script s;
  s.establish_as_server();
  s.in("F. 1:1 ack 1");
  s.out();
  s.write(2000);
  EXPECT_EQ(s.out_all(), (Lines{". 1:1461 ack 2", "P. 1461:2001 ack 2"}));
  s.in(". 2:2 ack 2001");
  s.wait(Duration::seconds(600));
  EXPECT_EQ(s.endpoint().state(), State::kCloseWait);
  s.write(1);
  s.endpoint().close();
  EXPECT_EQ(s.out(), "FP. 2001:2002 ack 2");
  s.in(". 2:2 ack 2003");
  EXPECT_EQ(s.endpoint().state(), State::kClosed);
}

// Our FIN left before we were allowed to acknowledge the peer's FIN. So the arrival of our FIN says
// nothing of that acknowledgment, which still has to be sent and may be lost.
TEST(Close, WhoAcknowledgesAHeldFinHasTheLastWord) {
  Script s;
  s.establish_as_server();
  s.endpoint().hold_fin();
  s.in("FP. 1:11 ack 1");
  s.endpoint().consume(10);
  s.endpoint().close();
  EXPECT_EQ(s.out(), "F. 1:1 ack 11");
  s.endpoint().release_fin(s.now());
  s.in(". 12:12 ack 2");
  EXPECT_EQ(s.endpoint().state(), State::kTimeWait);
  EXPECT_EQ(s.out(), ". 2:2 ack 12");
  s.in("FP. 1:11 ack 2");
  EXPECT_EQ(s.out(), ". 2:2 ack 12 sack 1:11");
}

TEST(Close, FinWaitsForTheBytesBeforeIt) {
  Script s;
  s.establish_as_server();
  s.in("F. 101:201 ack 1");
  EXPECT_EQ(s.endpoint().state(), State::kEstablished);
  EXPECT_FALSE(s.endpoint().receiving().has_finished());
  EXPECT_EQ(s.out(), ". 1:1 ack 1 sack 101:201");
  s.in(". 1:101 ack 1");  // without FIN: the FIN that came before is remembered
  EXPECT_EQ(s.endpoint().state(), State::kCloseWait);
  EXPECT_EQ(s.out(), ". 1:1 ack 202");
  s.consume(200);
}

TEST(Close, DataBeyondThePeersFinIsIgnored) {
  Script s;
  s.establish_as_server();
  s.in("F. 1:101 ack 1");
  s.out();
  s.in(". 102:202 ack 1");
  EXPECT_EQ(s.out(), ". 1:1 ack 102");
  EXPECT_EQ(s.endpoint().received().readable(), 100u);
  s.consume(100);
}

TEST(Close, FinThatContradictsStoredDataIsIgnored) {
  Script s;
  s.establish_as_server();
  s.in(". 101:201 ack 1");
  s.in("F. 51:61 ack 1");
  s.in(". 1:101 ack 1");
  EXPECT_EQ(s.endpoint().state(), State::kEstablished);
  s.out_all();
  s.consume(200);
}

TEST(Close, RepeatedFinIsAcknowledgedAndRestartsTimeWait) {
  Script s;
  s.establish_as_server();
  s.endpoint().close();
  s.out();
  s.in("F. 1:1 ack 2");
  s.out();
  s.wait(Duration::seconds(20));
  s.in("F. 1:1 ack 2");
  EXPECT_EQ(s.out(), ". 2:2 ack 2");
  s.wait(Duration::seconds(29));
  EXPECT_EQ(s.endpoint().state(), State::kTimeWait);
  s.wait(Duration::seconds(1));
  EXPECT_EQ(s.endpoint().state(), State::kClosed);
}

TEST(Close, SilentPeerInFinWait2EndsSomeTimeInAnyCase) {
  Script s;
  s.establish_as_server();
  s.endpoint().close();
  s.out();
  s.in(". 1:1 ack 2");
  EXPECT_EQ(s.wait_for_timer(), Duration::seconds(7200));
  EXPECT_EQ(s.endpoint().lifecycle().reason(), CloseReason::kTimeout);
}

// A server may compute for hours before it answers. Its keep-alives show that it is there.
TEST(Close, APeerThatAsksInFinWait2IsThere) {
  Script s;
  s.establish_as_server();
  s.endpoint().close();
  s.out();
  s.in(". 1:1 ack 2");
  for (int hour = 0; hour < 5; ++hour) {
    s.wait(Duration::seconds(3'600));
    s.in(". 0:0 ack 2");
    ASSERT_EQ(s.endpoint().state(), State::kFinWait2) << hour;
  }
  s.out_all();
  EXPECT_EQ(s.wait_for_timer(), Duration::seconds(7'200)) << "it is silent from then on";
}

TEST(Close, AbortDropsEverything) {
  Script s;
  s.establish_as_server();
  s.write(5000);
  s.out();
  s.in(". 1:101 ack 1");
  s.endpoint().abort(s.now());
  EXPECT_EQ(s.out(), "R. 1461:1461 ack 101");
  EXPECT_EQ(s.out(), "-");
  EXPECT_EQ(s.endpoint().state(), State::kClosed);
  EXPECT_EQ(s.endpoint().lifecycle().reason(), CloseReason::kAborted);
  EXPECT_EQ(s.arena().used_blocks(), 0u);
  EXPECT_TRUE(s.endpoint().next_timeout().is_never());
  s.in(". 101:201 ack 1");  // the RST was lost
  EXPECT_EQ(s.out(), "R 1:1");
  s.in("R 101:101");
  EXPECT_EQ(s.out(), "-");
}

TEST(Close, NewIncarnationIsAdmittedOnlyInTimeWaitAndOnlyIfNewer) {
  Script s;
  s.establish_as_server("mss 1460 ts 50 0");
  wire::TcpHeader syn;
  syn.flags = wire::TcpFlags::kSyn;
  syn.sequence = kPeerIsn + 100'000;
  syn.options.timestamps = wire::TcpTimestamps{60, 0};
  EXPECT_FALSE(s.endpoint().admits_new_incarnation(syn));
  s.endpoint().close();
  s.out();
  s.in("F. 1:1 ack 2 ts 50 1000");
  ASSERT_EQ(s.endpoint().state(), State::kTimeWait);
  EXPECT_TRUE(s.endpoint().admits_new_incarnation(syn));
  syn.options.timestamps->value = 49;
  EXPECT_FALSE(s.endpoint().admits_new_incarnation(syn));
  syn.options.timestamps.reset();
  EXPECT_TRUE(s.endpoint().admits_new_incarnation(syn));
  syn.sequence = kPeerIsn - 5;
  EXPECT_FALSE(s.endpoint().admits_new_incarnation(syn));
}

TEST(TimeWait, ASynOfANewIncarnationByRfc6191) {
  const auto in_time_wait = [](Script& s, bool timestamps) {
    s.establish_as_server(timestamps ? "mss 1460 ts 500 0" : "mss 1460");
    const std::string ts = timestamps ? " ts 500 1000" : "";
    s.endpoint().close();
    s.out();
    s.in("F. 1:1 ack 2" + ts);
    ASSERT_EQ(s.endpoint().state(), State::kTimeWait);
  };
  const auto admits = [](Script& s, std::uint32_t sequence, std::uint32_t timestamp) {
    wire::TcpHeader syn;
    syn.flags = wire::TcpFlags::kSyn;
    syn.sequence = kPeerIsn + sequence;
    if (timestamp > 0) syn.options.timestamps = wire::TcpTimestamps{timestamp, 0};
    return s.endpoint().admits_new_incarnation(syn);
  };
  Script with;
  in_time_wait(with, true);
  EXPECT_TRUE(admits(with, 0, 501));    // a later timestamp is enough
  EXPECT_FALSE(admits(with, 10, 499));  // an earlier timestamp is that of an old duplicate
  EXPECT_TRUE(admits(with, 10, 500));   // the same timestamp: the sequence number decides
  EXPECT_FALSE(admits(with, 2, 500));
  EXPECT_TRUE(admits(with, 10, 0));
  EXPECT_FALSE(admits(with, 2, 0));
  Script without;
  in_time_wait(without, false);
  EXPECT_TRUE(admits(without, 0, 1));  // from now on timestamps tell the incarnations apart
  EXPECT_TRUE(admits(without, 10, 0));
  EXPECT_FALSE(admits(without, 2, 0));
}

}  // namespace
}  // namespace satrelay::tcp::test::close_test
