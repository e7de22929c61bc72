// Decides whether a block is worth the compressor's time, from a sample of at most 4 KiB.
#include <algorithm>
#include <array>

#include "pep/compress/block_codec.h"

namespace satrelay::compress {

namespace {

// The sample is one thirty-second of the block, within these bounds. So an incompressible stream
// costs only a few hundredths of a nanosecond per byte. The sample consists of a few stretches,
// which are spread evenly and are long enough to contain repetitions.
constexpr std::size_t kShare = 32;
constexpr std::size_t kMinSample = 512;
constexpr std::size_t kMaxSample = 4096;
constexpr std::size_t kStretches = 8;

using Histogram = std::array<std::uint32_t, 256>;

// Counts octets in four histograms in turn. With a single histogram, each octet of a run of equal
// octets would wait for the store of the previous octet.
class Counter {
 public:
  void add(ConstBytes bytes) {
    std::size_t i = 0;
    for (; i + 4 <= bytes.size(); i += 4) {
      for (std::size_t lane = 0; lane < 4; ++lane) ++lanes_[lane][load_u8(&bytes[i + lane])];
    }
    for (; i < bytes.size(); ++i) ++lanes_[0][load_u8(&bytes[i])];
    size_ += bytes.size();
  }

  // Counts the ordered pairs of equal octets at different positions of the sample.
  std::uint64_t equal_pairs() const {
    std::uint64_t pairs = 0;
    for (std::size_t v = 0; v < 256; ++v) {
      const std::uint64_t n =
          std::uint64_t{lanes_[0][v]} + lanes_[1][v] + lanes_[2][v] + lanes_[3][v];
      pairs += n * n;
    }
    return pairs - size_;
  }
  std::uint64_t pairs() const { return size_ * (size_ - 1); }
  std::uint64_t size() const { return size_; }

 private:
  std::array<Histogram, 4> lanes_{};
  std::uint64_t size_ = 0;
};

// Collision entropy: -log2 of the probability that two octets are equal. It is never above
// Shannon's entropy, needs no logarithm, and does not depend on the sample's size. Unbiased octets
// are equal with probability 1 / 256; 1.5 times that probability means 7.4 bits.
bool has_biased_octets(const Counter& counter) {
  // Adds three standard deviations of the ratio for unbiased octets, sqrt(2 * 255) / size each,
  // because a small sample needs a clearer bias.
  constexpr std::uint64_t kThreeDeviations = 68;
  const std::uint64_t n = counter.size();
  // equal * 256 / pairs > 1.5 + kThreeDeviations / n, in integers.
  return counter.equal_pairs() * 256 * 2 * n > counter.pairs() * (3 * n + 2 * kThreeDeviations);
}

// Counts eight-octet strings that occurred before. Only strings with certain hashes are picked. So
// if a string occurs twice, both occurrences are picked, however far apart they are.
class Repetitions {
 public:
  void add(ConstBytes bytes) {
    for (std::size_t i = 0; i + 8 <= bytes.size(); ++i) {
      const std::uint64_t string = load_u64(&bytes[i]);
      const std::uint64_t hash = string * 0x9E3779B97F4A7C15U;
      if (hash >> 60 != 0) continue;  // picks one in sixteen
      ++picked_;
      std::uint64_t& seen = table_[(hash >> 52) & 0xffU];
      if (seen == string && string != 0) ++repeated_;
      seen = string;
    }
  }
  // A small sample seldom contains both occurrences of a repeated string, so few repetitions
  // suffice. Random octets have none.
  bool found() const { return repeated_ >= 2 && repeated_ * 64 >= picked_; }

 private:
  std::array<std::uint64_t, 256> table_{};
  std::uint64_t picked_ = 0;
  std::uint64_t repeated_ = 0;
};

template <typename Visitor>
void sample(ConstBytes plain, Visitor visit) {
  const std::size_t size = std::clamp(plain.size() / kShare, kMinSample, kMaxSample);
  if (plain.size() <= size) {
    visit(plain);
    return;
  }
  const std::size_t stretch = size / kStretches;
  for (std::size_t i = 0; i < kStretches; ++i) {
    visit(plain.subspan((plain.size() - stretch) * i / (kStretches - 1), stretch));
  }
}

}  // namespace

bool looks_compressible(ConstBytes plain) {
  if (plain.size() < 2) return false;
  Counter counter;
  sample(plain, [&](ConstBytes piece) { counter.add(piece); });
  if (has_biased_octets(counter)) return true;
  Repetitions repetitions;
  sample(plain, [&](ConstBytes piece) { repetitions.add(piece); });
  return repetitions.found();
}

}  // namespace satrelay::compress
