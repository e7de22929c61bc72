// The stream side of one flow, between its host and a far gateway that reads and writes blocks. For
// tests of a stream from its opening to its end.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pep/compress/block_codec.h"
#include "relay/gateway/flows/bytes/stream_side.h"
#include "tests/unit/relay/gateway/devices/live_peer.h"
#include "tests/unit/relay/gateway/hosted_flow.h"

namespace satrelay::gateway {

class StreamSideTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kSlot = 5;
  static constexpr std::size_t kReserve = 1024;         // of the host's memory
  static constexpr std::uint64_t kPromised = 1U << 18;  // to each peer

  StreamSideTest() {
    plan_.host_window = plan_.host_windows = 1U << 20;
    plan_.lane_receive_limit = plan_.flow_receive_limit = {kPromised, kPromised};
    f_.rule->rule.compress = config::Compress::kOff;
    OpenMetadata metadata;
    metadata.client = f_.key.local;
    metadata.server = f_.key.remote;
    metadata.client_port = f_.key.local_port;
    metadata.server_port = f_.key.remote_port;
    metadata.class_name = "b";
    f_.set_metadata(metadata);
  }
  void SetUp() override { begin(); }
  // Begins anew, with the present configuration.
  void begin() {
    windows_ = std::make_unique<HostWindows>(plan_, store_, hosts_);
    side_ = std::make_unique<StreamSide>(config_, plan_, HashKey{1, 2}, classes_, peer_.lanes,
                                         budget_, nullptr);
    peer_.producer = [this](Instant now) {
      ++asked_;
      side_->produce(f_, *windows_, now);
    };
  }
  void open() { ASSERT_EQ(side_->open(kSlot, f_, now_), StreamSide::Opening::kOpen); }
  // Both hosts have opened the same connection at once.
  void open_both() {
    open();
    f_.make_rare().inbound = opened_by_far();
    side_->adopt(kSlot, f_, *f_.inbound());
  }
  stp::StreamId opened_by_far() {
    const stp::StreamId stream = *peer_.far().streams().open({}, 0, now_);
    exchange();
    EXPECT_NE(session().streams().received(stream), nullptr);
    return stream;
  }
  void exchange() {
    for (int i = 0; i < 20; ++i) peer_.exchange(now_);
  }
  [[nodiscard]] bool deliver() {
    budget_.renew();
    const StreamSide::Delivery delivery = side_->deliver(f_, *windows_, now_);
    host_.listen(now_);
    return delivery != StreamSide::Delivery::kMalformed;
  }

  // --- what crosses
  // A class for each letter.
  static std::vector<config::TrafficClass> named(std::string_view letters) {
    std::vector<config::TrafficClass> classes;
    for (const char c : letters) classes.push_back({.name = std::string(1, c)});
    return classes;
  }

  static std::vector<std::byte> block(compress::BlockKind kind, ConstBytes body) {
    std::vector<std::byte> bytes(compress::kBlockHeaderSize);
    compress::write_block_header({kind, static_cast<std::uint32_t>(body.size())}, bytes);
    bytes.insert(bytes.end(), body.begin(), body.end());
    return bytes;
  }

  static std::vector<std::byte> sample(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 256);
    return bytes;
  }

  // --- of the far gateway
  void far_writes(ConstBytes bytes, stp::StreamId stream) {
    exchange();  // it must know the stream
    ASSERT_EQ(peer_.far().streams().write(stream, bytes, now_), bytes.size());
    exchange();
  }
  void far_says(ConstBytes plain) {
    far_writes(block(compress::BlockKind::kRaw, plain), f_.inbound_stream());
  }
  void far_ends() {
    exchange();
    peer_.far().streams().finish(f_.inbound_stream());
    exchange();
    ASSERT_TRUE(session().streams().received_end(f_.inbound_stream()));
  }
  // The bytes that the far gateway has received and not consumed.
  std::vector<std::byte> far_heard() {
    exchange();
    const Reassembler& stored = *peer_.far().streams().received(f_.stream);
    std::vector<std::byte> bytes(stored.readable());
    stored.copy_front(bytes);
    return bytes;
  }
  std::vector<stp::Event> far_events(stp::Event::Kind kind) {
    std::vector<stp::Event> events;
    while (const auto event = peer_.far().poll_event()) {
      if (event->kind == kind) events.push_back(*event);
    }
    return events;
  }

  stp::Session& session() { return peer_.session(); }
  static std::vector<BlockIndex> use_up(Arena& arena) {
    std::vector<BlockIndex> blocks;
    while (arena.free_blocks() > 0) blocks.push_back(arena.allocate());
    return blocks;
  }

  Instant now_ = Instant::from_nanoseconds(1);
  Carrier carrier_{link_of(BitRate::bits_per_second(50'000'000)), 2, 16};
  LivePeer peer_{carrier_, now_};
  std::vector<std::byte> host_memory_ = std::vector<std::byte>(1U << 20);
  Arena host_arena_{host_memory_, 4096, kReserve};
  HostedFlow host_{host_arena_, now_};
  Flow& f_ = host_.flow;
  config::Gateway config_;
  MemoryPlan plan_;
  TrafficClasses classes_{named("abc")};
  FlowStore store_{16, HashKey{1, 2}};
  LanHosts hosts_{16, HashKey{1, 2}};
  std::unique_ptr<HostWindows> windows_;
  WorkBudget budget_;
  std::unique_ptr<StreamSide> side_;
  int asked_ = 0;  // how often the stream has asked for blocks
};

}  // namespace satrelay::gateway
