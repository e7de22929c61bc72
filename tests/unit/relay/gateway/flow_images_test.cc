// A flow moves to a gateway in another process, with the octets of the arena. There it goes on as
// it does here, frame for frame.
//
// The other process must not know the flow already. So it plays a gateway that has come as far with
// another connection: the same hosts, ports, sizes and times, but other bytes and other numbers.
// Its frames differ until it reads the image.
#include "relay/gateway/flow_images.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pep/base/random.h"
#include "pep/tcp/endpoint.h"
#include "relay/gateway/frames/frame.h"
#include "tests/unit/relay/gateway/gateway_fixture.h"

namespace satrelay::gateway::flow_images_test {
namespace {

constexpr auto kFile = "SATRELAY_FLOW_IMAGES_TEST";  // environment: the other process has this file
constexpr Duration kStep = Duration::milliseconds(5);
constexpr int kMoves = 840;  // the step before which the flow moves
constexpr int kSteps = 1'500;
constexpr std::size_t kMemory = 8U << 20;
constexpr std::size_t kBytes = 1'500'000;  // of each host

constexpr std::uint64_t kSeed = 1, kOtherSeed = 2;
const Instant kBegin = Instant::from_nanoseconds(1);

struct Side {
  bool is_near = false;
  std::uint64_t seed = 0;
};

std::unique_ptr<Gateway> start(Side side, MutableBytes memory, Instant now) {
  config::Gateway config = side.is_near ? config_of("192.0.2.1", "192.0.2.2", "198.51.100.0/24")
                                        : config_of("192.0.2.2", "192.0.2.1", "203.0.113.0/24");
  config.limits.memory = ByteCount(kMemory);
  // A repair is a sum of packets that left before, so it shows the bytes before the image.
  config.stp.fec = config::Fec::kOff;
  config.rules[1].compress = config::Compress::kOff;
  return std::make_unique<Gateway>(config,
                                   Identity{.boot_epoch = 1,
                                            .secret = {side.seed, side.is_near ? 1U : 2U},
                                            .wan_mac = side.is_near ? kGatewayMac : kPeerMac},
                                   memory, now);
}

void image_of(std::vector<std::byte>& octets, Image& image) {
  octets.resize(image.count(octets.size()));
  image.octets(octets);
}

// A gateway that keeps all calls, with what came in and what went out, or repeats them.
struct Call {
  enum class Kind : std::uint8_t { kFrame, kTimeout, kPoll };
  Kind kind = Kind::kTimeout;
  PortId port = PortId::kLan;
  Instant now;
  FrameBytes frame;  // in or out

  void image(Image& image) {
    image(kind, port, now);
    image_of(frame, image);
  }
  friend bool operator==(const Call&, const Call&) = default;
};
using Calls = std::vector<Call>;

std::string describe(const Call& call) {
  std::string text = std::to_string(call.now.to_nanoseconds() / 1'000'000) + " ms, ";
  if (call.kind == Call::Kind::kTimeout) return text + "handle_timeout()";
  text += call.kind == Call::Kind::kFrame ? "handle_frame() of the " : "poll_frame() of the ";
  text += call.port == PortId::kLan ? "LAN: " : "WAN: ";
  text += std::to_string(call.frame.size()) + " octets";
  const Frame seen = look_at(call.frame);
  if (const auto tcp = wire::parse_tcp(seen.payload); call.port == PortId::kLan && tcp) {
    text += ", TCP sequence " + std::to_string(tcp->header.sequence) + ", acknowledgment " +
            std::to_string(tcp->header.acknowledgment) + ", window " +
            std::to_string(tcp->header.window) + ", flags " + std::to_string(tcp->header.flags) +
            ", payload " + std::to_string(seen.payload.size() - tcp->header_size);
  }
  return text;
}

// The first call that differs, and how; "": none does.
std::string difference(const Calls& here, const Calls& there) {
  for (std::size_t i = 0; i < std::min(here.size(), there.size()); ++i) {
    if (here[i] == there[i]) continue;
    const FrameBytes &a = here[i].frame, &b = there[i].frame;
    const auto at = std::ranges::mismatch(a, b).in1 - a.begin();
    return "call " + std::to_string(i) + " of " + std::to_string(here.size()) +
           " differs.\n here: " + describe(here[i]) + "\n there: " + describe(there[i]) +
           "\n The frames differ from octet " + std::to_string(at) + " on.";
  }
  if (here.size() == there.size()) return "";
  return std::to_string(here.size()) + " calls here, " + std::to_string(there.size()) + " there";
}

class Recorded {
 public:
  explicit Recorded(Gateway& gateway) : gateway_(&gateway) {}

  Calls take() { return std::exchange(calls_, {}); }
  void handle_frame(PortId port, const FrameBytes& frame, Instant now) {
    calls_.push_back({Call::Kind::kFrame, port, now, frame});
    gateway_->handle_frame(port, frame, now);
  }
  void handle_timeout(Instant now) {
    calls_.push_back({Call::Kind::kTimeout, PortId::kLan, now, {}});
    gateway_->handle_timeout(now);
  }
  FrameBytes poll_frame(PortId port, Instant now) {
    FrameBytes frame(gateway_->max_frame_size());
    frame.resize(gateway_->poll_frame(port, frame, now).size);
    calls_.push_back({Call::Kind::kPoll, port, now, frame});
    return frame;
  }
  void repeat(const Calls& calls) {
    for (const Call& call : calls) {
      if (call.kind == Call::Kind::kFrame) handle_frame(call.port, call.frame, call.now);
      if (call.kind == Call::Kind::kTimeout) handle_timeout(call.now);
      if (call.kind == Call::Kind::kPoll) poll_frame(call.port, call.now);
    }
  }

 private:
  Gateway* gateway_;
  Calls calls_;
};

// A host with one connection, which sends kBytes as fast as it may, and reads as it may.
class Host {
 public:
  Host(const char* own, const char* far, std::uint16_t own_port, std::uint16_t far_port,
       std::uint64_t seed)
      : own_(own), far_(far), own_port_(own_port), far_port_(far_port), random_(seed) {
    tcp::Config config;
    config.initial_sequence = static_cast<std::uint32_t>(random_.next());
    config.timestamp_offset = static_cast<std::uint32_t>(random_.next());
    config.receive_limit = 100'000;
    endpoint_ = std::make_unique<tcp::Endpoint>(config, arena_);
  }

  void connect(Instant now) {
    wire::TcpOptions offer;
    offer.mss = 1460;
    offer.window_scale = 7;
    offer.sack_permitted = true;
    offer.timestamps = wire::TcpTimestamps{};
    endpoint_->connect(offer, now);
  }
  void handle_frame(const FrameBytes& frame, Instant now) {
    const Frame seen = look_at(frame);
    const auto tcp = wire::parse_tcp(seen.payload);
    if (seen.kind == FrameKind::kArp || !tcp) return;
    if (endpoint_->lifecycle().trace().empty()) return endpoint_->accept(tcp->header, now);
    endpoint_->handle_segment(tcp->header, seen.payload.subspan(tcp->header_size), now);
  }
  std::vector<FrameBytes> poll_frames(Instant now) {
    if (endpoint_->next_timeout() <= now) endpoint_->handle_timeout(now);
    write();
    if (!pauses) endpoint_->consume(endpoint_->received().readable());
    std::vector<FrameBytes> frames;
    while (auto segment = endpoint_->poll_segment(now)) {
      std::string payload(segment->payload_size, '\0');
      endpoint_->copy_payload(segment->payload_offset, std::as_writable_bytes(std::span(payload)));
      segment->header.source_port = own_port_;
      segment->header.destination_port = far_port_;
      frames.push_back(tcp_frame(own_, far_, segment->header, host_to_server(), payload));
    }
    return frames;
  }
  bool is_closed() const { return endpoint_->is_closed() || endpoint_->time_wait(); }
  std::uint64_t received() const { return endpoint_->received().in_order_end(); }

  bool pauses = false;  // reads nothing

 private:
  void write() {
    if (!endpoint_->is_synchronised()) return;
    std::array<std::byte, 1'000> bytes;
    while (written_ < kBytes && endpoint_->sending().writable() >= bytes.size()) {
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random_.next());
      if (endpoint_->write(bytes) < bytes.size()) break;
      written_ += bytes.size();
    }
    if (written_ == kBytes) endpoint_->close();
  }

  const char* own_;
  const char* far_;
  std::uint16_t own_port_, far_port_;
  Random random_;
  std::vector<std::byte> memory_ = std::vector<std::byte>(2U << 20);
  Arena arena_{memory_, 4096};
  std::unique_ptr<tcp::Endpoint> endpoint_;
  std::size_t written_ = 0;
};

// Two hosts and two gateways, each step with the same faults. `seed` makes the bytes and the
// numbers of the hosts.
class World {
 public:
  explicit World(std::uint64_t seed)
      : a_(start({.is_near = true, .seed = seed}, memory_a_, now_)),
        b_(start({.is_near = false, .seed = seed}, memory_b_, now_)),
        client_(kClient, kServer, 40'000, 80, seed),
        server_(kServer, kClient, 80, 40'000, ~seed) {}

  void run(int until) {
    for (; step_ < until; ++step_) step();
  }
  Instant now() const { return now_; }
  Gateway& gateway() { return *a_; }
  ConstBytes memory() const { return memory_a_; }
  Recorded& recorded() { return recorded_; }
  bool is_over() const { return client_.is_closed() && server_.is_closed(); }
  const Host& client() const { return client_; }
  const Host& server() const { return server_; }

 private:
  void step() {
    now_ += kStep;
    if (step_ == kStart) client_.connect(now_);
    // Around the image, bytes wait for each host, and are missing on each way.
    client_.pauses = server_.pauses = step_ > kMoves - 15 && step_ < kMoves + 25;
    const bool loses = step_ > kMoves - 8 && step_ < kMoves + 3;
    for (const FrameBytes& frame : client_.poll_frames(now_)) {
      if (loses && ++frames_ % 7 == 0) continue;
      recorded_.handle_frame(PortId::kLan, frame, now_);
    }
    for (const FrameBytes& frame : server_.poll_frames(now_)) {
      b_->handle_frame(PortId::kLan, frame, now_);
    }
    if (a_->next_timeout() <= now_) recorded_.handle_timeout(now_);
    if (b_->next_timeout() <= now_) b_->handle_timeout(now_);
    FrameBytes frame(b_->max_frame_size());
    while (const std::size_t size = b_->poll_frame(PortId::kWan, frame, now_).size) {
      if (loses && ++frames_ % 5 == 0) continue;
      recorded_.handle_frame(PortId::kWan, {frame.data(), frame.data() + size}, now_);
    }
    for (FrameBytes out; !(out = recorded_.poll_frame(PortId::kWan, now_)).empty();) {
      if (loses && ++frames_ % 3 == 0) continue;
      b_->handle_frame(PortId::kWan, out, now_);
    }
    for (FrameBytes out; !(out = recorded_.poll_frame(PortId::kLan, now_)).empty();) {
      if (loses && ++frames_ % 6 == 0) continue;
      client_.handle_frame(out, now_);
    }
    while (const std::size_t size = b_->poll_frame(PortId::kLan, frame, now_).size) {
      server_.handle_frame({frame.data(), frame.data() + size}, now_);
    }
  }

  static constexpr int kStart = 800;  // the gateways know each other by then

  Instant now_ = kBegin;
  int step_ = 0;
  std::uint64_t frames_ = 0;
  std::vector<std::byte> memory_a_ = std::vector<std::byte>(kMemory);
  std::vector<std::byte> memory_b_ = std::vector<std::byte>(kMemory);
  std::unique_ptr<Gateway> a_, b_;
  Recorded recorded_{*a_};
  Host client_, server_;
};

// The content of the file: what the other process plays before and after it has read the flow, and
// what it must answer then.
struct Move {
  Calls before;
  std::vector<std::byte> memory, accounts, flow;
  Instant at;
  Calls after;

  void image(Image& image) {
    image(before, at, after);
    for (std::vector<std::byte>* octets : {&memory, &accounts, &flow}) image_of(*octets, image);
  }
};

Move read_file(const char* name) {
  std::ifstream file(name, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  Move move;
  Image image = Image::reader(std::as_bytes(std::span(text)), {});
  image(move);
  EXPECT_TRUE(image.complete());
  return move;
}

void write_file(const std::string& name, Move& move) {
  std::vector<std::byte> octets;
  Image::writer(octets, {})(move);
  std::ofstream file(name, std::ios::binary);
  file.write(reinterpret_cast<const char*>(octets.data()),
             static_cast<std::streamsize>(octets.size()));
}

// The exit status of this program with the other test.
int run_other_process(const std::string& file) {
  const pid_t child = fork();
  if (child == 0) {
    setenv(kFile, file.c_str(), 1);
    for (const char* name : {"GTEST_OUTPUT", "GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX"}) {
      unsetenv(name);
    }
    execl("/proc/self/exe", "other-process", "--gtest_filter=FlowImages.DISABLED_InTheOtherProcess",
          "--gtest_also_run_disabled_tests", static_cast<char*>(nullptr));
    _exit(2);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(FlowImages, DISABLED_InTheOtherProcess) {
  const char* const file = std::getenv(kFile);
  ASSERT_NE(file, nullptr) << "runs only within AFlowMovesToAnotherProcess";
  Move move = read_file(file);
  std::vector<std::byte> memory(kMemory);
  const std::unique_ptr<Gateway> gateway =
      start(Side{.is_near = true, .seed = kOtherSeed}, memory, kBegin);
  Recorded recorded(*gateway);
  recorded.repeat(move.before);
  std::string differs = difference(recorded.take(), move.before);
  ASSERT_TRUE(differs.empty()) << "Before the flow has moved, " << differs;
  FlowImages images(*gateway);
  ASSERT_EQ(images.count(), 1U);
  const FlowImages::Lifted lifted = images.lift(images.slot(0), move.at);
  ASSERT_NE(lifted.octets, move.flow);
  std::copy(move.memory.begin(), move.memory.end(), memory.begin());
  Image accounts = Image::reader(move.accounts, move.at);
  images.arena(accounts);
  ASSERT_TRUE(accounts.complete());
  ASSERT_EQ(images.put_back(lifted, move.flow, move.at), FlowImageFault::kNone);
  ASSERT_EQ(gateway->audit(), std::nullopt);
  recorded.repeat(move.after);
  differs = difference(recorded.take(), move.after);
  ASSERT_TRUE(differs.empty()) << "After the flow has moved, " << differs;
  ASSERT_EQ(std::remove(file), 0) << "the sign that all was compared";
}

TEST(FlowImages, AFlowMovesToAnotherProcess) {
  // A world without images shows what the other process must answer.
  World world(kSeed);
  world.run(kMoves);
  const Calls same = world.recorded().take();
  world.run(kSteps);
  Move move;
  move.after = world.recorded().take();
  EXPECT_EQ(world.client().received(), kBytes);
  EXPECT_EQ(world.server().received(), kBytes);
  EXPECT_TRUE(world.is_over());

  World from(kSeed);
  from.run(kMoves);
  ASSERT_EQ(difference(from.recorded().take(), same), "");
  move.at = from.now();
  FlowImages images(from.gateway());
  ASSERT_EQ(images.count(), 1U);
  const FlowImages::Lifted lifted = images.lift(images.slot(0), move.at);
  move.flow = lifted.octets;
  Image accounts = Image::writer(move.accounts, move.at);
  images.arena(accounts);
  move.memory.assign(from.memory().begin(), from.memory().end());
  ASSERT_EQ(images.put_back(lifted, lifted.octets, move.at), FlowImageFault::kNone);

  World other(kOtherSeed);
  other.run(kMoves);
  move.before = other.recorded().take();

  const std::string file = testing::TempDir() + "flow-images-" + std::to_string(getpid());
  write_file(file, move);
  EXPECT_EQ(run_other_process(file), 0) << "the other process has said above what differs";
  EXPECT_NE(std::remove(file.c_str()), 0) << "the other process has not come to its end";
}

}  // namespace
}  // namespace satrelay::gateway::flow_images_test
