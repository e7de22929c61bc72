// A transfer in its steady state makes no allocations, with and without loss.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <vector>

#include "tests/unit/pep/stp/application.h"

namespace {
std::uint64_t allocations = 0;
}

// These must not be inlined, or the compiler would see malloc() and free() through new and delete.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* p = std::malloc(size)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace satrelay::stp::test::allocation_test {
namespace {

// A delay line that does not allocate.
class Line {
 public:
  void send(ConstBytes packet, Instant due) {
    Slot& slot = slots_[end_++ % slots_.size()];
    ASSERT_LT(end_ - begin_, slots_.size());
    slot.due = due;
    slot.size = packet.size();
    std::copy(packet.begin(), packet.end(), slot.bytes.begin());
  }
  Instant next() const {
    return begin_ == end_ ? Instant::never() : slots_[begin_ % slots_.size()].due;
  }
  ConstBytes receive() {
    const Slot& slot = slots_[begin_++ % slots_.size()];
    return ConstBytes(slot.bytes).first(slot.size);
  }

 private:
  struct Slot {
    Instant due;
    std::size_t size = 0;
    std::array<std::byte, 1472> bytes;
  };
  std::vector<Slot> slots_ = std::vector<Slot>(8192);
  std::uint64_t begin_ = 0, end_ = 0;
};

struct Endless final : StreamSource {
  Session* session = nullptr;
  std::vector<std::byte> block = std::vector<std::byte>(16384);
  void produce(StreamId id, std::uint32_t, Instant now) override {
    if (session->streams().write(id, block, now) == 0) session->streams().set_ready(id, false);
  }
};

void run(double loss) {
  Endless sources[2];
  EndConfig configs[2] = {end_config(true), end_config(false)};
  std::unique_ptr<End> ends[2];
  Instant now = Instant::from_nanoseconds(1'000'000'000);
  for (int i = 0; i < 2; ++i) {
    configs[i].arena_bytes = 64 << 20;
    // The limit is so small that each stream reaches its largest extent during the warm-up.
    configs[i].session.streams.send_limit = 120'000;
    configs[i].session.streams.receive_limit = 120'000;
    ends[i] = std::make_unique<End>(configs[i], sources[i], now);
    sources[i].session = &ends[i]->session();
  }
  Line lines[2];
  Random random(5);
  std::vector<StreamId> streams;
  const auto run_for = [&](Duration time) {
    const Instant until = now + time;
    while (now < until) {
      for (int i = 0; i < 2; ++i) {
        Session& s = ends[i]->session();
        while (lines[1 - i].next() <= now) s.handle_packet(lines[1 - i].receive(), now);
        if (s.next_timeout() <= now) s.handle_timeout(now);
        std::byte buffer[1472];
        while (const std::size_t n = s.poll_packet(buffer, now)) {
          if (!random.chance(loss)) {
            lines[i].send(ConstBytes(buffer, n), now + Duration::milliseconds(50));
          }
        }
        while (const auto event = s.poll_event()) {
          if (event->kind == Event::Kind::kWritable) s.streams().set_ready(event->stream, true);
          if (event->kind != Event::Kind::kReadable) continue;
          s.streams().consume(event->stream, s.streams().received(event->stream)->readable(), now);
        }
      }
      Instant next = until;
      for (int i = 0; i < 2; ++i) {
        next = earlier(next, earlier(lines[i].next(), ends[i]->session().next_timeout()));
      }
      now = later(now + Duration::microseconds(1), next);
    }
  };
  run_for(Duration::seconds(1));
  for (int i = 0; i < 20; ++i) {
    Session& s = ends[i % 2]->session();
    const auto id = s.streams().open({}, 0, now);
    ASSERT_TRUE(id);
    s.streams().set_ready(*id, true);
  }
  // The warm-up loses more than the measured part, so that rings and lists reach their final sizes.
  const double steady_loss = loss;
  loss *= 2;
  run_for(Duration::seconds(60));
  loss = steady_loss;
  const std::uint64_t packets = ends[0]->session().counters().packets_in;
  const std::uint64_t before = allocations;
  run_for(Duration::seconds(5));
  EXPECT_EQ(allocations - before, 0U);
  EXPECT_GT(ends[0]->session().counters().packets_in - packets, 15'000U);
}

TEST(AllocationTest, SteadyStateWithoutLoss) { run(0); }
TEST(AllocationTest, SteadyStateWithLoss) { run(0.02); }

}  // namespace
}  // namespace satrelay::stp::test::allocation_test
