// The questions of `satrelayctl init`, one row for each. The dialogue, the file of answers and its
// template walk the rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/readers/document.h"
#include "relay/satrelayctl/init/answers.h"
#include "relay/satrelayctl/init/setting.h"

namespace satrelay::ctl::init {

enum class Shape : std::uint8_t { kSingle, kList };
enum class Place : std::uint8_t { kEverywhere, kOnlyInFiles };

struct Question {
  std::string_view key;  // in a file of answers
  std::string_view text;
  std::string_view help;
  // Returns the default as text, or "" if there is none and the user must answer.
  std::string (*fallback)(const Answers& answers, const Setting& setting);
  // Writes the answer into `answers`. Throws ConfigError at the value.
  void (*read)(const config::Value& value, Answers& answers, const Setting& setting);
  Shape shape = Shape::kSingle;
  Place place = Place::kEverywhere;
  // Whether the question makes sense after the earlier answers; nullptr means that it always does.
  bool (*applies)(const Answers& answers, const Setting& setting) = nullptr;
};

// The rows, in the order in which they are asked and read.
std::span<const Question> questions();
bool applies(const Question& question, const Answers& answers, const Setting& setting);

// Reads an answer as the user has typed it. Returns why it is refused, and leaves `answers` alone
// then. Returns nullopt if it is accepted.
std::optional<std::string> take_answer(const Question& question, const std::string& text,
                                       const Setting& setting, Answers& answers);

}  // namespace satrelay::ctl::init
