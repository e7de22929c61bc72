// Dictionaries trained as `zstd --train` does it, and samples of one service's small objects.
#pragma once

#include <zdict.h>

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "pep/base/bytes.h"
#include "pep/base/random.h"

namespace satrelay::compress {

using Bytes = std::vector<std::byte>;

inline Bytes bytes_of(const std::string& text) {
  const ConstBytes bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline Bytes train(const std::vector<Bytes>& samples, std::size_t size) {
  Bytes all;
  std::vector<std::size_t> sizes;
  for (const Bytes& sample : samples) {
    all.insert(all.end(), sample.begin(), sample.end());
    sizes.push_back(sample.size());
  }
  Bytes dictionary(size);
  const std::size_t made = ZDICT_trainFromBuffer(dictionary.data(), dictionary.size(), all.data(),
                                                 sizes.data(), static_cast<unsigned>(sizes.size()));
  if (ZDICT_isError(made) != 0) throw std::runtime_error(ZDICT_getErrorName(made));
  dictionary.resize(made);
  return dictionary;
}

// An answer of a web service, some 500 bytes. About a quarter of it differs from other answers.
inline std::string web_answer(Random& random) {
  const auto number = [&random](std::uint64_t below) {
    return std::to_string(random.below(below));
  };
  const std::string body =
      R"({"vessel": ")" + number(1'000'000'000) + R"(", "position": {"latitude": )" + number(90) +
      "." + number(1'000'000) + R"(, "longitude": )" + number(180) + "." + number(1'000'000) +
      R"(}, "speed_over_ground": )" + number(30) + R"(, "course": )" + number(360) +
      R"(, "status": "under way using engine", "destination": "port )" + number(1000) +
      R"(", "updated": )" + number(2'000'000'000) + "}";
  return "HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Type: application/json; charset=utf-8\r\n"
         "Cache-Control: no-cache, no-store, must-revalidate\r\nConnection: keep-alive\r\n"
         "X-Request-Id: " +
         number(1'000'000'000'000'000) + "\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

// A dictionary of 16 KiB at most, trained on a thousand such answers.
inline Bytes trained_dictionary(std::uint64_t seed) {
  Random random(seed);
  std::vector<Bytes> samples;
  for (int i = 0; i < 1000; ++i) samples.push_back(bytes_of(web_answer(random)));
  return train(samples, 16 * 1024);
}

}  // namespace satrelay::compress
