// Nanoseconds to seal and to open a packet, compared with a plain copy of the same bytes, and
// nanoseconds of the handshake.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "pep/base/random.h"
#include "pep/crypto/aead.h"
#include "pep/crypto/mac.h"
#include "pep/crypto/noise.h"
#include "tests/bench/timed.h"

namespace satrelay::bench {
namespace {

using Octets = std::vector<std::byte>;

constexpr std::size_t kHeader = 8;
constexpr std::size_t kPackets = 32;  // Taken in turn: a burst.

Octets random_octets(Random& random, std::size_t size) {
  Octets bytes(size);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random.next());
  return bytes;
}

// The fastest and the median of several measurements. Other programs on the machine have disturbed
// the fastest least.
struct Spread {
  double best = 0;
  double median = 0;
};

Spread spread_of(std::vector<double> results) {
  std::sort(results.begin(), results.end());
  return {results.front(), results[results.size() / 2]};
}

template <typename Measure>
Spread repeated(std::size_t rounds, Measure measure) {
  std::vector<double> results;
  for (std::size_t i = 0; i < rounds; ++i) results.push_back(measure());
  return spread_of(std::move(results));
}

// The rounds of AES-128 alone with AES-NI, over the blocks of `size` bytes. It processes eight
// blocks at a time, without loads, stores and authentication. No code that has only AES-NI can be
// faster.
__attribute__((target("aes"))) void aes_rounds(std::size_t size) {
  constexpr std::size_t kAtOnce = 8, kRounds = 10;
  __m128i block[kAtOnce] = {};
  const __m128i key = _mm_set1_epi8(3);
  // Otherwise the compiler would see eight equal blocks.
  for (__m128i& b : block) asm volatile("" : "+x"(b));
  for (std::size_t done = 0; done < size; done += 16 * kAtOnce) {
#pragma GCC unroll 10
    for (std::size_t round = 0; round < kRounds; ++round) {
#pragma GCC unroll 8
      for (__m128i& b : block) b = _mm_aesenc_si128(b, key);
    }
  }
  for (const __m128i& b : block) asm volatile("" : : "x"(b));
}

struct Effort {
  std::size_t rounds;
  std::size_t bytes;  // In a round.
};

struct Row {
  std::string backend;
  std::size_t size = 0;  // Plain text.
  Spread copy, seal, open;
  bool is_sound = true;
};

Row measure(crypto::AeadBackend backend, std::size_t size, const Effort& effort) {
  Random random(size);
  const Secret<crypto::kAeadKeySize> key;
  const auto aead = crypto::make_aead(key.bytes(), backend);
  const Octets header = random_octets(random, kHeader);
  std::vector<Octets> plain, sealed;
  for (std::size_t i = 0; i < kPackets; ++i) {
    plain.push_back(random_octets(random, size));
    sealed.emplace_back(size + crypto::kTagSize);
  }
  const std::size_t calls = std::max<std::size_t>(effort.bytes / (size + 200), 1024);
  Row row{backend == crypto::AeadBackend::kIpsecMb ? "ipsec-mb" : "openssl", size, {}, {}, {}};
  std::vector<double> copy, seal, open;
  // In turn, so that a busy minute of the machine affects all three.
  for (std::size_t round = 0; round < effort.rounds; ++round) {
    copy.push_back(timed(calls, [&](std::size_t i) {
      std::memcpy(sealed[i % kPackets].data(), plain[i % kPackets].data(), size);
      keep(sealed);
    }));
    seal.push_back(timed(calls, [&](std::size_t i) {
      aead->seal(crypto::packet_nonce({.number = i % kPackets}), header, plain[i % kPackets],
                 sealed[i % kPackets]);
    }));
    open.push_back(timed(calls, [&](std::size_t i) {
      if (!aead->open(crypto::packet_nonce({.number = i % kPackets}), header, sealed[i % kPackets],
                      plain[i % kPackets])) {
        row.is_sound = false;
      }
    }));
  }
  row.copy = spread_of(std::move(copy));
  row.seal = spread_of(std::move(seal));
  row.open = spread_of(std::move(open));
  return row;
}

struct PartRow {
  std::string name;
  Spread time;
};

std::vector<PartRow> measure_parts(const Effort& effort) {
  using crypto::NoiseHandshake;
  Random random(1);
  const crypto::Psk psk, other_psk(std::span<const std::byte, crypto::kPskSize>(
                             random_octets(random, crypto::kPskSize)));
  const Octets prologue = random_octets(random, 40);
  const crypto::PrivateKey a(psk), b(other_psk);
  constexpr std::size_t kPayload = 64;
  Octets payload(kPayload), message1(kPayload + NoiseHandshake::kOverhead), message2(message1);
  const auto take = [](crypto::NoiseResult result) { keep(result); };
  const std::size_t calls = std::max<std::size_t>(effort.bytes / 500'000, 16);
  const auto handshakes = [&](const auto& work) {
    return repeated(effort.rounds, [&] {
      return timed(
          calls, [&](std::size_t) { work(); }, /*batch=*/4);
    });
  };
  std::vector<PartRow> rows;
  if (__builtin_cpu_supports("aes") != 0) {
    rows.push_back({"AES-NI's rounds alone, 1500 bytes", repeated(effort.rounds, [&] {
                      return timed(effort.bytes / 1500, [](std::size_t) { aes_rounds(1500); });
                    })});
  }
  rows.push_back({"handshake, both ends", handshakes([&] {
                    NoiseHandshake initiator(NoiseHandshake::Role::kInitiator, psk, prologue, a);
                    NoiseHandshake responder(NoiseHandshake::Role::kResponder, psk, prologue, b);
                    take(initiator.write_message(payload, message1));
                    take(responder.read_message(message1, payload));
                    take(responder.write_message(payload, message2));
                    take(initiator.read_message(message2, payload));
                    keep(initiator.split());
                    keep(responder.split());
                  })});
  rows.push_back({"message 1 of a stranger refused", handshakes([&] {
                    NoiseHandshake responder(NoiseHandshake::Role::kResponder, other_psk, prologue,
                                             b);
                    take(responder.read_message(message1, payload));
                  })});
  const Octets hello = random_octets(random, 300);
  crypto::Mac mac(psk.bytes().first<crypto::kAeadKeySize>());
  rows.push_back({"a MAC of 300 bytes", repeated(effort.rounds, [&] {
                    return timed(effort.bytes / 300,
                                 [&](std::size_t) { keep(mac.code({}, hello)); });
                  })});
  rows.push_back({"a key expanded, ipsec-mb or openssl", handshakes([&] {
                    keep(crypto::make_aead(psk.bytes().first<crypto::kAeadKeySize>(),
                                           crypto::preferred_backend()));
                  })});
  return rows;
}

nlohmann::json to_json(const Spread& spread) {
  return {{"best_ns", spread.best}, {"median_ns", spread.median}};
}

int run(int argc, char** argv) {
  CLI::App app("Nanoseconds of sealing and opening a packet with AES-128-GCM", "bench_crypto");
  bool quick = false;
  std::string json_path;
  app.add_flag("--quick", quick, "well under a second, for figures that mean little");
  app.add_option("--json", json_path, "write the figures to this file as well");
  CLI11_PARSE(app, argc, argv);

  const Effort effort = quick ? Effort{3, 1'000'000} : Effort{15, 60'000'000};
  std::printf(
      "Nanoseconds a call, hot: best / median of %zu measurements (batches that the scheduler\n"
      "interrupted are left out). The ratio is that of the best, to copying the same bytes.\n\n",
      effort.rounds);
  std::printf("%-9s %6s %15s %17s %6s %17s %6s\n", "", "bytes", "copy", "seal", "ratio", "open",
              "ratio");
  nlohmann::json json;
  for (const crypto::AeadBackend backend :
       {crypto::AeadBackend::kIpsecMb, crypto::AeadBackend::kOpenSsl}) {
    if (!crypto::is_available(backend)) continue;
    for (const std::size_t size :
         {std::size_t{64}, std::size_t{1400}, std::size_t{1500}, std::size_t{9000}}) {
      const Row row = measure(backend, size, effort);
      if (!row.is_sound) {
        std::fprintf(stderr, "bench_crypto: %s refused its own packet\n", row.backend.c_str());
        return 1;
      }
      std::printf("%-9s %6zu %7.0f/%7.0f %8.0f/%8.0f %6.1f %8.0f/%8.0f %6.1f\n",
                  row.backend.c_str(), row.size, row.copy.best, row.copy.median, row.seal.best,
                  row.seal.median, row.seal.best / row.copy.best, row.open.best, row.open.median,
                  row.open.best / row.copy.best);
      std::fflush(stdout);
      json["packets"].push_back({{"backend", row.backend},
                                 {"bytes", row.size},
                                 {"copy", to_json(row.copy)},
                                 {"seal", to_json(row.seal)},
                                 {"open", to_json(row.open)}});
    }
  }
  std::printf("\n");
  for (const PartRow& row : measure_parts(effort)) {
    std::printf("%8.0f/%8.0f  %s\n", row.time.best, row.time.median, row.name.c_str());
    json["parts"].push_back({{"name", row.name}, {"time", to_json(row.time)}});
  }
  if (!json_path.empty()) {
    std::ofstream file(json_path);
    file << json.dump(2) << "\n";
    if (!file) {
      std::fprintf(stderr, "bench_crypto: cannot write %s\n", json_path.c_str());
      return 1;
    }
  }
  return 0;
}

}  // namespace
}  // namespace satrelay::bench

int main(int argc, char** argv) { return satrelay::bench::run(argc, argv); }
