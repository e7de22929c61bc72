// A host's bytes go through the splice into a stream and out of it, with little memory. All bytes
// that were acknowledged to the host arrive, whole and in order. Half a block is no end of a
// stream.
#include "relay/gateway/flows/bytes/splice.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "pep/base/random.h"
#include "tests/fuzz/fuzz_peer.h"

namespace satrelay::gateway::splice_test {
namespace {

constexpr std::size_t kBlock = 4096;
constexpr std::size_t kBlocks = 96;
constexpr std::uint32_t kClientStart = 1'000;
const BitRate kRate = BitRate::bits_per_second(100'000'000);

std::byte host_byte(std::uint64_t offset) {  // compressible
  return static_cast<std::byte>(offset / 64 * 7 + (offset / 4096) % 3);
}

// Each block takes 30 us.
class SteadyStopwatch final : public Stopwatch {
 public:
  Instant read() const override {
    now_ = now_ + Duration::microseconds(30);
    return now_;
  }

 private:
  mutable Instant now_;
};

class SpliceTest : public testing::Test, public stp::StreamSource {
 protected:
  SpliceTest()
      : memory_(kBlocks * kBlock),
        host_memory_(kBlocks * kBlock),
        arena_(memory_, kBlock),
        host_arena_(host_memory_, kBlock),
        pacer_(kRate, control::LinkOverhead{}, Duration::milliseconds(4)),
        controller_(kRate),
        session_(config(), arena_, pacer_, controller_, *this, now_),
        splice_(1, dictionaries_, budget_, &stopwatch_) {
    for (int i = 0; i < 10; ++i) exchange();
    EXPECT_EQ(session_.peer_state(), stp::PeerState::kAlive);
  }

  static stp::Config config() {
    stp::Config config;
    config.boot_epoch = 1;
    config.streams.max_streams = 4;
    config.streams.lane_receive_limit = config.streams.receive_limit = 8 * kBlock;
    return config;
  }

  void produce(stp::StreamId id, std::uint32_t, Instant now) override {
    std::vector<BlockIndex> others;
    if (short_of_memory_) {
      // Other flows hold memory at this moment, down to about the limit below which nothing can be
      // written.
      const std::size_t left = kBlocks / 8 + random_.below(14);
      while (arena_.free_blocks() > left) others.push_back(arena_.allocate());
    }
    if (splice_.to_stream(*flow_, session_, largest_, dictionary_, now) ==
            SpliceResult::kNoMemory ||
        flow_->endpoint.received().readable() == 0) {
      session_.streams().set_ready(id, false);
    }
    for (const BlockIndex block : others) arena_.release(block);
  }

  void exchange() {
    budget_.renew();
    now_ += Duration::milliseconds(5);
    if (session_.next_timeout() <= now_) session_.handle_timeout(now_);
    if (far_.session().next_timeout() <= now_) far_.session().handle_timeout(now_);
    std::array<std::byte, 1472> packet{};
    while (const std::size_t size = session_.poll_packet(packet, now_, {})) {
      far_.session().handle_packet(ConstBytes(packet).first(size), now_);
    }
    while (const std::size_t size = far_.session().poll_packet(packet, now_, {})) {
      session_.handle_packet(ConstBytes(packet).first(size), now_);
    }
  }

  void start(config::Compress compress) {
    auto rule = std::make_shared<ActiveRule>();
    rule->rule.compress = compress;
    tcp::Config tcp;
    tcp.receive_limit = 60 * kBlock;
    flow_ = std::make_unique<Flow>(FlowKey{}, rule, Origin::kLan, tcp, host_arena_,
                                   tcp::Endpoint::Shared{&counters_, {}}, now_);
    wire::TcpHeader syn;
    syn.sequence = kClientStart;
    syn.flags = wire::TcpFlags::kSyn;
    syn.window = 65'535;
    syn.options.mss = 1460;
    syn.options.window_scale = 0;
    flow_->endpoint.accept(syn, now_);
    const auto answer = flow_->endpoint.poll_segment(now_);
    ASSERT_TRUE(answer);
    acknowledged_ = answer->header.sequence + 1;
    flow_->stream = *session_.streams().open({}, 0, now_);
    flow_->state.open_stream();
    speak({});
    ASSERT_TRUE(flow_->endpoint.is_synchronised());
  }

  void speak(ConstBytes payload) {
    wire::TcpHeader header;
    header.sequence = static_cast<std::uint32_t>(kClientStart + 1 + said_);
    header.acknowledgment = acknowledged_;
    header.flags = wire::TcpFlags::kAck;
    header.window = 65'535;
    flow_->endpoint.handle_segment(header, payload, now_);
    while (flow_->endpoint.poll_segment(now_)) {
    }
    said_ = flow_->endpoint.received().in_order_end();
  }

  void speak_some() {
    std::array<std::byte, 1460> payload{};
    for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = host_byte(said_ + i);
    speak(ConstBytes(payload).first(1 + random_.below(payload.size())));
  }

  // Reads the blocks at the far end as plain bytes. Returns false if a block is malformed.
  bool read_far() {
    const Reassembler* stored = far_.session().streams().received(flow_->stream);
    if (stored == nullptr) return true;
    const std::size_t before = encoded_.size();
    encoded_.resize(before + stored->readable());
    stored->copy_front(MutableBytes(encoded_).subspan(before));
    far_.session().streams().consume(flow_->stream, stored->readable(), now_);
    while (encoded_.size() - at_ >= compress::kBlockHeaderSize) {
      const auto header = compress::parse_block_header(ConstBytes(encoded_).subspan(at_));
      if (!header) return false;
      const std::size_t whole = compress::kBlockHeaderSize + header->encoded_size;
      if (encoded_.size() - at_ < whole) break;
      const auto body =
          ConstBytes(encoded_).subspan(at_ + compress::kBlockHeaderSize, header->encoded_size);
      if (header->kind == compress::BlockKind::kRaw) {
        plain_.insert(plain_.end(), body.begin(), body.end());
        largest_seen_.raw = std::max(largest_seen_.raw, body.size());
      } else if (header->kind == compress::BlockKind::kZstd) {
        std::vector<std::byte> out(compress::kMaxPlainBlock);
        const auto size = decoder_.decompress(body, out);
        if (!size) return false;
        plain_.insert(plain_.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(*size));
        largest_seen_.compressed = std::max(largest_seen_.compressed, *size);
      } else {
        marks_.assign(body.begin(), body.end());
      }
      at_ += whole;
    }
    return true;
  }

  void expect_all_arrives(config::Compress compress) {
    start(compress);
    short_of_memory_ = true;
    for (int round = 0; round < 3'000; ++round) {
      if (random_.chance(0.02)) flow_->marks.host.hop_limit = static_cast<std::uint8_t>(round);
      const auto segments = random_.below(60);
      for (std::uint64_t i = 0; i < segments; ++i) speak_some();
      if (flow_->endpoint.received().readable() > 0)
        session_.streams().set_ready(flow_->stream, true);
      exchange();
      ASSERT_TRUE(read_far()) << "round " << round;
    }
    short_of_memory_ = false;
    for (int round = 0; round < 400; ++round) {
      if (flow_->endpoint.received().readable() > 0)
        session_.streams().set_ready(flow_->stream, true);
      exchange();
      ASSERT_TRUE(read_far());
    }
    EXPECT_GT(said_, 1'000'000U);
    ASSERT_EQ(plain_.size(), said_);
    EXPECT_EQ(at_, encoded_.size()) << "the last block is cut";
    for (std::uint64_t i = 0; i < plain_.size(); ++i) {
      ASSERT_EQ(plain_[i], host_byte(i)) << "at " << i;
    }
    EXPECT_EQ(session_.audit(), std::nullopt);
  }

  // The far end sends `stream`. Returns what the near end makes of it.
  SpliceResult receive(std::vector<std::byte> stream, std::uint64_t memory = 1 << 20) {
    start(config::Compress::kOff);
    far_.session().poll_event();
    exchange();
    far_.take_events(false, now_);
    far_.write(flow_->stream, stream, now_);
    far_.session().streams().finish(flow_->stream);
    SpliceResult result = SpliceResult::kDone;
    for (int i = 0; i < 20 && result == SpliceResult::kDone; ++i) {
      exchange();
      result = to_host(memory);
    }
    EXPECT_TRUE(session_.streams().received_end(flow_->stream));
    return result;
  }
  SpliceResult to_host(std::uint64_t memory = 1 << 20) {
    return splice_.to_host(*flow_, session_, 1 << 20, memory, now_);
  }
  static std::vector<std::byte> compressed_block(std::size_t size) {
    std::vector<std::byte> plain(size);
    for (std::size_t i = 0; i < size; ++i) plain[i] = host_byte(i);
    std::vector<std::byte> bytes(compress::kBlockHeaderSize + size);
    compress::BlockEncoder encoder(1);
    const auto encoded = encoder.compress(
        plain, MutableBytes(bytes).subspan(compress::kBlockHeaderSize), compress::Mode::kOn);
    EXPECT_TRUE(encoded);
    bytes.resize(compress::kBlockHeaderSize + encoded.value_or(0));
    compress::write_block_header(
        {compress::BlockKind::kZstd, static_cast<std::uint32_t>(encoded.value_or(1))}, bytes);
    return bytes;
  }
  static std::vector<std::byte> block(compress::BlockKind kind, std::uint32_t says,
                                      std::size_t has) {
    std::vector<std::byte> bytes(compress::kBlockHeaderSize + has);
    compress::write_block_header({kind, says}, bytes);
    return bytes;
  }

  Instant now_ = Instant::from_nanoseconds(1'000'000'000);
  Random random_{11};
  bool short_of_memory_ = false;
  Splice::Largest largest_{.compressed = 64 * 1024, .raw = 64 * 1024};
  Splice::Largest largest_seen_;  // plain bytes, at the far end
  std::vector<std::byte> memory_;
  std::vector<std::byte> host_memory_;
  Arena arena_;
  Arena host_arena_;
  control::Pacer pacer_;
  control::FixedRate controller_;
  stp::Session session_;
  FuzzPeer far_{2, kRate, now_};
  Dictionaries dictionaries_;
  SharedDictionary dictionary_;
  SteadyStopwatch stopwatch_;
  WorkBudget budget_;
  Splice splice_;
  tcp::Counters counters_;
  std::unique_ptr<Flow> flow_;
  std::uint32_t acknowledged_ = 0;
  std::uint64_t said_ = 0;  // bytes of the host that were acknowledged
  std::vector<std::byte> encoded_, plain_, marks_;
  std::size_t at_ = 0;
  compress::BlockDecoder decoder_;
};

TEST_F(SpliceTest, WithLittleMemoryEveryRawByteArrives) {
  expect_all_arrives(config::Compress::kOff);
}

TEST_F(SpliceTest, WithLittleMemoryEveryCompressedByteArrives) {
  expect_all_arrives(config::Compress::kOn);
}

TEST_F(SpliceTest, ABlockThatIsNotHeldMayBeLarger) {
  largest_ = {.compressed = 500, .raw = 4'000};
  expect_all_arrives(config::Compress::kOff);
  EXPECT_EQ(largest_seen_.raw, 4'000U);
}

TEST_F(SpliceTest, ABlockThatIsHeldIsNoLargerThanThereIsRoomFor) {
  largest_ = {.compressed = 500, .raw = 4'000};
  expect_all_arrives(config::Compress::kOn);
  EXPECT_EQ(largest_seen_.compressed, 500U);
}

TEST_F(SpliceTest, WhatEachBlockTakesIsCounted) {
  start(config::Compress::kOn);
  for (int i = 0; i < 20; ++i) speak_some();
  session_.streams().set_ready(flow_->stream, true);
  exchange();
  const Histogram& times = splice_.block_times();
  EXPECT_GE(times.count(), 1U);
  EXPECT_EQ(times.count(), splice_.counters().compressed_blocks);
  EXPECT_EQ(times.sum(), 30'000 * times.count());
}

TEST_F(SpliceTest, AnEndBetweenBlocksIsAnEnd) {
  EXPECT_EQ(receive(block(compress::BlockKind::kRaw, 10, 10)), SpliceResult::kDone);
}

TEST_F(SpliceTest, AResetIsFoundBehindAllBytes) {
  auto stream = block(compress::BlockKind::kRaw, 10, 10);
  const auto compressed = compressed_block(20'000);
  const auto reset = block(compress::BlockKind::kReset, 1, 1);
  stream.insert(stream.end(), compressed.begin(), compressed.end());
  stream.insert(stream.end(), reset.begin(), reset.end());
  EXPECT_EQ(receive(stream), SpliceResult::kReset);
  EXPECT_EQ(flow_->bytes.to_lan, 20'010U);
}

TEST_F(SpliceTest, SoItIsWhereTheBytesAreDropped) {
  auto stream = block(compress::BlockKind::kRaw, 10, 10);
  const auto compressed = compressed_block(20'000);
  const auto reset = block(compress::BlockKind::kReset, 1, 1);
  stream.insert(stream.end(), compressed.begin(), compressed.end());
  stream.insert(stream.end(), reset.begin(), reset.end());
  ASSERT_EQ(receive(stream, /*memory=*/0), SpliceResult::kDone);
  EXPECT_EQ(splice_.drop(*flow_, session_, now_), SpliceResult::kReset);
  EXPECT_EQ(flow_->bytes.to_lan, 0U);
  EXPECT_EQ(session_.streams().bytes_stored(), 0U);
}

// All bytes that a peer may store here could be such blocks.
TEST_F(SpliceTest, BlocksThatCarryNothingAreWorkOfManyCalls) {
  std::vector<std::byte> stream;
  const auto marks = block(compress::BlockKind::kMarks, 2, 2);
  constexpr std::size_t kOfACall = WorkBudget::kOfACall / compress::kBlockWork;
  for (std::size_t i = 0; i < 3 * kOfACall; ++i) {
    stream.insert(stream.end(), marks.begin(), marks.end());
  }
  const auto raw = block(compress::BlockKind::kRaw, 10, 10);
  stream.insert(stream.end(), raw.begin(), raw.end());
  budget_.renew();
  EXPECT_EQ(receive(stream), SpliceResult::kSpent);
  EXPECT_EQ(to_host(), SpliceResult::kSpent) << "it is still";
  int visits = 1;
  for (SpliceResult result = SpliceResult::kSpent; result == SpliceResult::kSpent; ++visits) {
    budget_.renew();
    result = to_host();
  }
  EXPECT_EQ(visits, 4);
  EXPECT_EQ(flow_->bytes.to_lan, 10U);
}

// As the host reads, more of a block is passed on. Without room, the block is not decoded.
TEST_F(SpliceTest, ABlockWaitsForMemoryUndecoded) {
  ASSERT_EQ(receive(compressed_block(20'000), /*memory=*/5'000), SpliceResult::kNoMemory);
  EXPECT_EQ(flow_->bytes.to_lan, 0U) << "too little to be worth it";
  const Work before = budget_.total();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(to_host(5'000), SpliceResult::kNoMemory);
  EXPECT_LT(budget_.total() - before, compress::decoding_work(0, 20'000, 1));
  EXPECT_EQ(to_host(9'000), SpliceResult::kNoMemory);
  EXPECT_EQ(flow_->bytes.to_lan, 9'000U);
  EXPECT_EQ(to_host(11'000), SpliceResult::kDone);
  EXPECT_EQ(flow_->bytes.to_lan, 20'000U);
}

TEST_F(SpliceTest, AnEndInARawBlockIsMalformed) {
  EXPECT_EQ(receive(block(compress::BlockKind::kRaw, 10, 9)), SpliceResult::kMalformed);
}

TEST_F(SpliceTest, AnEndInACompressedBlockIsMalformed) {
  EXPECT_EQ(receive(block(compress::BlockKind::kZstd, 300, 299)), SpliceResult::kMalformed);
}

TEST_F(SpliceTest, AnEndInMarksIsMalformed) {
  EXPECT_EQ(receive(block(compress::BlockKind::kMarks, 2, 1)), SpliceResult::kMalformed);
}

TEST_F(SpliceTest, AnEndInAHeaderIsMalformed) {
  auto bytes = block(compress::BlockKind::kRaw, 10, 10);
  bytes.push_back(std::byte{0});
  EXPECT_EQ(receive(bytes), SpliceResult::kMalformed);
}

TEST_F(SpliceTest, AnEndRightBehindAHeaderIsMalformed) {
  EXPECT_EQ(receive(block(compress::BlockKind::kRaw, 10, 0)), SpliceResult::kMalformed);
}

}  // namespace
}  // namespace satrelay::gateway::splice_test
