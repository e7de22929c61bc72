#include "relay/satrelayd/commands/capture.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>

#include "relay/ops/control/control_client.h"
#include "relay/satrelayd/commands/capture_service.h"
#include "tests/unit/temporary_folder.h"

namespace satrelay::satrelayd::capture_test {
namespace {

using ops::CapturePlace;
using ops::CaptureRecord;
using ops::CaptureRequest;
using ops::CaptureWay;

std::vector<std::byte> frame_of(std::size_t size, unsigned fill) {
  return std::vector<std::byte>(size, static_cast<std::byte>(fill));
}

// Returns the first record of the ring. The record may be in two pieces.
std::optional<std::pair<CaptureRecord, std::vector<std::byte>>> next(CaptureRing& ring) {
  const auto take = [&](void* to, std::size_t size) {
    auto* out = static_cast<std::byte*>(to);
    while (size > 0) {
      const ConstBytes some = ring.readable();
      const std::size_t part = std::min(size, some.size());
      if (part == 0) return false;
      std::memcpy(out, some.data(), part);
      ring.take(part);
      out += part;
      size -= part;
    }
    return true;
  };
  CaptureRecord record;
  if (!take(&record, sizeof record)) return std::nullopt;
  std::vector<std::byte> bytes(record.captured);
  EXPECT_TRUE(take(bytes.data(), bytes.size()));
  return std::pair{record, bytes};
}

TEST(CaptureRing, KeepsOrderOverItsEnd) {
  CaptureRing ring(200);
  for (unsigned i = 0; i < 100; ++i) {
    const auto bytes = frame_of(i % 70, i);
    CaptureRecord record;
    record.time = i;
    record.captured = static_cast<std::uint32_t>(bytes.size());
    ASSERT_TRUE(ring.push(record, bytes)) << i;
    const auto found = next(ring);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->first.time, i);
    EXPECT_EQ(found->second, bytes);
  }
}

TEST(CaptureRing, TakesAllOfARecordOrNothing) {
  CaptureRing ring(sizeof(CaptureRecord) + 100);
  CaptureRecord record;
  EXPECT_FALSE(ring.push(record, frame_of(101, 1)));
  EXPECT_TRUE(ring.readable().empty());
  EXPECT_TRUE(ring.push(record, frame_of(100, 1)));
  EXPECT_FALSE(ring.push(record, {}));
}

TEST(CaptureRing, AWriterAndAReaderNeedNoLock) {
  CaptureRing ring(1000);
  constexpr std::uint64_t kCount = 50'000;
  std::thread writer([&] {
    for (std::uint64_t i = 0; i < kCount;) {
      CaptureRecord record;
      record.time = i;
      record.captured = static_cast<std::uint32_t>(i % 200);
      if (ring.push(record, frame_of(i % 200, static_cast<unsigned>(i)))) {
        ++i;
      } else {
        std::this_thread::yield();
      }
    }
  });
  for (std::uint64_t i = 0; i < kCount;) {
    const auto found = next(ring);
    if (!found) {
      std::this_thread::yield();
      continue;
    }
    ASSERT_EQ(found->first.time, i);
    ASSERT_EQ(found->second, frame_of(i % 200, static_cast<unsigned>(i)));
    ++i;
  }
  writer.join();
}

// Accepts the frames that begin with the octet 7.
const std::vector<bpf_insn> kSevens = {
    BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 7, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, 65'535), BPF_STMT(BPF_RET | BPF_K, 0)};

TEST(CaptureTap, SeesWhatItWasAskedForAndNoMore) {
  CaptureTap tap;
  EXPECT_FALSE(tap.sees(CapturePlace::kLan));
  tap.start({.place = CapturePlace::kWan, .longest = 10, .filter = kSevens, .epoch = 1'000});
  EXPECT_FALSE(tap.sees(CapturePlace::kWan));  // the worker has not applied it yet
  tap.settle();
  tap.settle();
  EXPECT_TRUE(tap.sees(CapturePlace::kWan));
  EXPECT_FALSE(tap.sees(CapturePlace::kLan));
  tap.see(CapturePlace::kWan, CaptureWay::kOut, frame_of(60, 8), Instant());
  tap.see(CapturePlace::kLan, CaptureWay::kOut, frame_of(60, 7), Instant());  // not captured
  tap.see(CapturePlace::kWan, CaptureWay::kOut, frame_of(60, 7),
          Instant() + Duration::nanoseconds(5));
  const auto found = next(*tap.ring());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->first.time, 1'005U);
  EXPECT_EQ(found->first.original, 60U);
  EXPECT_EQ(found->first.way, CaptureWay::kOut);
  EXPECT_EQ(found->second, frame_of(10, 7));
  EXPECT_FALSE(next(*tap.ring()));
  tap.stop();
  EXPECT_FALSE(tap.is_off());
  EXPECT_FALSE(tap.sees(CapturePlace::kWan));
  tap.settle();
  EXPECT_TRUE(tap.is_off());
}

class CaptureSocket : public testing::Test {
 protected:
  int connect() {
    const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_TRUE(ops::connect_control(descriptor, ops::control_address(socket_)));
    return descriptor;
  }
  static void ask(int client, CaptureRequest request, const std::vector<bpf_insn>& filter) {
    request.instructions = static_cast<std::uint32_t>(filter.size());
    ASSERT_EQ(::send(client, &request, sizeof request, 0), ssize_t{sizeof request});
    ::send(client, filter.data(), filter.size() * sizeof(bpf_insn), 0);
  }
  void look(int times = 3) {
    for (int i = 0; i < times; ++i) {
      service_.look(now_ += Duration::milliseconds(10));
      tap_.settle();
    }
  }
  static std::string read(int client) {
    char bytes[4096];
    const ssize_t count = ::recv(client, bytes, sizeof bytes, MSG_DONTWAIT);
    return {bytes, count > 0 ? static_cast<std::size_t>(count) : 0};
  }

  TemporaryFolder folder_;
  const std::string socket_ = folder_.file("capture.sock");
  CaptureTap tap_;
  std::vector<std::string> told_;
  CaptureService service_{socket_, ops::SocketAccess{}, tap_, [] { return std::uint64_t{0}; },
                          [this](const ops::Event& event) {
                            told_.push_back(ops::to_line(event, event.caller->on_behalf_of));
                            EXPECT_EQ(event.caller->user, ::getuid());
                          }};
  Instant now_;
};

TEST_F(CaptureSocket, HandsOverWhatIsSeenAndInTheEndWhatWasLost) {
  const int client = connect();
  ask(client, {.place = CapturePlace::kLan}, kSevens);
  look();
  EXPECT_EQ(read(client), "ok\n");
  ASSERT_TRUE(tap_.sees(CapturePlace::kLan));
  tap_.see(CapturePlace::kLan, CaptureWay::kIn, frame_of(60, 7), now_);
  look();
  EXPECT_EQ(read(client).size(), sizeof(CaptureRecord) + 60);
  tap_.see(CapturePlace::kLan, CaptureWay::kIn, frame_of(60, 7), now_);
  ::shutdown(client, SHUT_WR);
  look();
  const std::string rest = read(client);
  ASSERT_EQ(rest.size(), 2 * sizeof(CaptureRecord) + 60);
  CaptureRecord last;
  std::memcpy(&last, rest.data() + rest.size() - sizeof last, sizeof last);
  EXPECT_EQ(last.way, CaptureWay::kEnd);
  EXPECT_EQ(last.lost, 0U);
  EXPECT_TRUE(tap_.is_off());
  EXPECT_EQ(told_, (std::vector<std::string>{
                       "port lan: capture begins (16384 bytes of each frame, with a filter) "
                       "[capture_begun]",
                       "port lan: capture ends (0 frames lost) [capture_ended]"}));
  ::close(client);
}

TEST_F(CaptureSocket, ServesOneAtATimeAndOutlivesAClientThatIsKilled) {
  const int first = connect();
  ask(first, {}, {});
  look();
  const int second = connect();
  look();
  EXPECT_EQ(read(second), "error: another capture runs; there is one at a time\n");
  ::close(second);
  ::close(first);
  look(6);
  EXPECT_TRUE(tap_.is_off());
  const int third = connect();
  ask(third, {}, {});
  look();
  EXPECT_EQ(read(third), "ok\n");
  ::close(third);
}

TEST_F(CaptureSocket, TellsForWhomItCaptures) {
  const int client = connect();
  CaptureRequest request;
  std::strcpy(request.on_behalf_of, "panel:otto");
  ask(client, request, {});
  look();
  ::close(client);
  look(6);
  EXPECT_EQ(told_, (std::vector<std::string>{
                       "port lan: capture begins (16384 bytes of each frame, by panel:otto) "
                       "[capture_begun]",
                       "port lan: capture ends (0 frames lost, by panel:otto) [capture_ended]"}));
  told_.clear();
  // The next capture does not keep the name.
  const int other = connect();
  ask(other, {}, {});
  look();
  EXPECT_EQ(told_.at(0), "port lan: capture begins (16384 bytes of each frame) [capture_begun]");
  ::close(other);
}

TEST_F(CaptureSocket, RefusesWhatItDoesNotUnderstand) {
  const auto answer_to = [&](const CaptureRequest& request, const std::vector<bpf_insn>& filter) {
    const int client = connect();
    ask(client, request, filter);
    look();
    const std::string answer = read(client);
    ::close(client);
    look();
    return answer;
  };
  const std::string version =
      "error: the request is not understood; is satrelayctl of another version?\n";
  EXPECT_EQ(answer_to({.magic = 1}, {}), version);
  EXPECT_EQ(answer_to({.place = static_cast<CapturePlace>(3)}, {}), version);
  EXPECT_EQ(answer_to({.longest = 0}, {}), version);
  EXPECT_EQ(answer_to({.longest = ops::kLongestCapture + 1}, {}), version);
  EXPECT_EQ(answer_to({}, std::vector<bpf_insn>(ops::kMostInstructions + 1)), version);
  CaptureRequest forged;
  std::strcpy(forged.on_behalf_of, "panel:x\npanel:y");
  EXPECT_EQ(answer_to(forged, {}), version);
  std::memset(forged.on_behalf_of, 'x', sizeof forged.on_behalf_of);
  EXPECT_EQ(answer_to(forged, {}), version);
  // A jump beyond the end, and a path without a return.
  EXPECT_EQ(answer_to({}, {BPF_JUMP(BPF_JMP | BPF_JA, 1000, 0, 0), BPF_STMT(BPF_RET | BPF_K, 0)}),
            "error: the filter is not valid\n");
  EXPECT_EQ(answer_to({}, {BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0)}),
            "error: the filter is not valid\n");
  EXPECT_TRUE(told_.empty());
}

TEST_F(CaptureSocket, AClientThatDoesNotGoOnIsLeft) {
  const int client = connect();
  look();
  now_ += Duration::seconds(11);
  look();
  EXPECT_EQ(::recv(client, &now_, 1, MSG_DONTWAIT), 0);
  ::close(client);
}

}  // namespace
}  // namespace satrelay::satrelayd::capture_test
