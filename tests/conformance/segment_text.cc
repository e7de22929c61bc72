#include "tests/conformance/segment_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace satrelay::conformance {
namespace {

struct FlagLetter {
  char letter;
  std::uint8_t flag;
};
// In the order in which they are written.
constexpr std::array<FlagLetter, 8> kFlagLetters{{{'S', Flags::kSyn},
                                                  {'F', Flags::kFin},
                                                  {'R', Flags::kRst},
                                                  {'P', Flags::kPsh},
                                                  {'U', Flags::kUrg},
                                                  {'E', Flags::kEce},
                                                  {'W', Flags::kCwr},
                                                  {'.', Flags::kAck}}};

struct EcnWord {
  const char* word;
  Ecn value;
};
constexpr std::array<EcnWord, 4> kEcnWords{
    {{"not-ect", Ecn::kNotEct}, {"ect1", Ecn::kEct1}, {"ect0", Ecn::kEct0}, {"ce", Ecn::kCe}}};

std::string quoted(std::string_view text) {
  std::string result = "'";
  result += text;
  return result += '\'';
}

void parse_flags(const std::string& word, SegmentText& segment) {
  if (word == "-") return;  // No flags at all.
  for (const char letter : word) {
    const auto* const it =
        std::find_if(kFlagLetters.begin(), kFlagLetters.end(),
                     [letter](const FlagLetter& flag) { return flag.letter == letter; });
    if (it == kFlagLetters.end()) throw NotationError("no flags: '" + word + "'");
    segment.flags |= it->flag;
  }
}

std::pair<std::int64_t, std::int64_t> parse_range(std::string_view word) {
  const auto colon = word.find(':');
  if (colon == std::string_view::npos) {
    throw NotationError(quoted(word) + " should be BEGIN:END");
  }
  return {parse_number(word.substr(0, colon)), parse_number(word.substr(colon + 1))};
}

template <class Integer>
Integer parse_bounded(std::string_view word) {
  const std::int64_t number = parse_number(word);
  if (number < 0 || number > std::int64_t{std::numeric_limits<Integer>::max()}) {
    throw NotationError(std::string(word) + " is out of range");
  }
  return static_cast<Integer>(number);
}

std::optional<std::uint32_t> value_or_any(std::string_view word) {
  if (word == "*") return std::nullopt;
  return parse_bounded<std::uint32_t>(word);
}

std::vector<std::byte> parse_hex(const std::vector<std::string>& words) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 1; i < words.size(); ++i) {
    unsigned value = 0;
    const std::string& word = words[i];
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, 16);
    if (error != std::errc() || end != word.data() + word.size() || value > 0xff) {
      throw NotationError("'" + word + "' is no byte in hexadecimal");
    }
    bytes.push_back(static_cast<std::byte>(value));
  }
  return bytes;
}

Option parse_option(std::string_view text) {
  const std::vector<std::string> words = split_words(text);
  if (words.empty()) throw NotationError("an empty option");
  const std::string& name = words[0];
  Option option;
  std::size_t arguments = 0;
  if (name == "sackOK") {
    option.kind = OptionKind::kSackPermitted;
  } else if (name == "nop") {
    option.kind = OptionKind::kNoOperation;
  } else if (name == "eol") {
    option.kind = OptionKind::kEndOfList;
  } else if (name == "hex") {
    option.raw = parse_hex(words);
    arguments = option.raw.size();
  } else if (name == "sack" && words.size() > 1) {
    option.kind = OptionKind::kSack;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto [begin, end] = parse_range(words[i]);
      option.blocks.emplace_back(static_cast<std::uint32_t>(begin),
                                 static_cast<std::uint32_t>(end));
    }
    arguments = option.blocks.size();
  } else if ((name == "mss" || name == "wscale") && words.size() == 2) {
    option.kind = name == "mss" ? OptionKind::kMss : OptionKind::kWindowScale;
    option.value = value_or_any(words[1]);
    arguments = 1;
  } else if (name == "TS" && words.size() == 2 && words[1].find(':') != std::string::npos) {
    option.kind = OptionKind::kTimestamps;
    const std::string_view pair = words[1];
    option.value = value_or_any(pair.substr(0, pair.find(':')));
    option.echo = value_or_any(pair.substr(pair.find(':') + 1));
    arguments = 1;
  } else {
    throw NotationError("no option: '" + std::string(text) + "'");
  }
  if (words.size() != arguments + 1)
    throw NotationError("too many words in '" + std::string(text) + "'");
  return option;
}

// The words behind flags and sequence numbers.
class Fields {
 public:
  Fields(const std::vector<std::string>& words, SegmentText& segment)
      : words_(words), segment_(segment) {}

  void parse() {
    for (at_ = 2; at_ < words_.size(); ++at_) parse_one(words_[at_]);
  }

 private:
  void parse_one(const std::string& word) {
    if (word == "ack") {
      const std::string& number = argument();
      if (number != "*") segment_.ack = parse_number(number);
    } else if (word == "win") {
      const std::string& number = argument();
      if (number != "*") segment_.window = parse_bounded<std::uint16_t>(number);
    } else if (word == "urg") {
      segment_.urgent = parse_bounded<std::uint16_t>(argument());
    } else if (word == "offset") {
      segment_.data_offset = parse_bounded<std::uint8_t>(argument());
    } else if (word.front() == '<') {
      parse_option_list(word);
    } else if (word.front() == 'x' && word.size() > 1) {
      segment_.repetitions = parse_bounded<int>(std::string_view(word).substr(1));
    } else if (!parse_ecn(word)) {
      throw NotationError("'" + word + "' means nothing in a segment");
    }
  }

  const std::string& argument() {
    if (at_ + 1 >= words_.size()) throw NotationError("'" + words_[at_] + "' needs a number");
    return words_[++at_];
  }

  void parse_option_list(const std::string& word) {
    if (word == "<*>") {
      segment_.options_stated = OptionsStated::kAny;
      return;
    }
    segment_.options_stated = OptionsStated::kAll;
    segment_.options = parse_options(word);
  }

  bool parse_ecn(const std::string& word) {
    const auto* const it =
        std::find_if(kEcnWords.begin(), kEcnWords.end(),
                     [&word](const EcnWord& entry) { return word == entry.word; });
    if (it == kEcnWords.end()) return false;
    segment_.ecn = it->value;
    return true;
  }

  const std::vector<std::string>& words_;
  SegmentText& segment_;
  std::size_t at_ = 0;
};

// Appends, since GCC 12 takes "literal" + std::string for an overlapping copy.
void append_range(std::string& text, std::uint32_t begin, std::uint32_t end) {
  text += ' ';
  text += std::to_string(static_cast<std::int32_t>(begin));
  text += ':';
  text += std::to_string(static_cast<std::int32_t>(end));
}

void append_number(std::string& text, const char* name, std::int64_t number) {
  text += name;
  text += std::to_string(number);
}

void append_raw(std::string& text, const std::vector<std::byte>& raw) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  text += "hex";
  for (const std::byte byte : raw) {
    text += ' ';
    text += kDigits[std::to_integer<std::size_t>(byte) >> 4];
    text += kDigits[std::to_integer<std::size_t>(byte) & 15];
  }
}

void append_option(std::string& text, const Option& option, const Origin& origin) {
  switch (option.kind) {
    case OptionKind::kEndOfList:
      text += "eol";
      return;
    case OptionKind::kNoOperation:
      text += "nop";
      return;
    case OptionKind::kMss:
      return append_number(text, "mss ", option.value.value_or(0));
    case OptionKind::kWindowScale:
      return append_number(text, "wscale ", option.value.value_or(0));
    case OptionKind::kSackPermitted:
      text += "sackOK";
      return;
    case OptionKind::kSack:
      text += "sack";
      for (const auto& [begin, end] : option.blocks) {
        append_range(text, begin - origin.acknowledgment, end - origin.acknowledgment);
      }
      return;
    case OptionKind::kTimestamps:
      append_number(text, "TS ", option.value.value_or(0) - origin.timestamp);
      return append_number(text, ":",
                           option.echo.value_or(0) == 0 ? 0 : *option.echo - origin.echo);
    case OptionKind::kRaw:
      return append_raw(text, option.raw);
  }
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string> split_words(std::string_view line) {
  std::vector<std::string> words;
  std::size_t at = 0;
  while (at < line.size()) {
    if (line[at] == ' ' || line[at] == '\t') {
      ++at;
      continue;
    }
    std::size_t end = line.find_first_of(" \t", at);
    // "<--" is an arrow, any other "<" opens a list.
    if (line[at] == '<' && line.substr(at, 3) != "<--") {
      const std::size_t close = line.find('>', at);
      if (close == std::string_view::npos) throw NotationError("'<' without '>'");
      end = close + 1;
    }
    end = std::min(end, line.size());
    words.emplace_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

std::int64_t parse_number(std::string_view word) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) {
    throw NotationError(quoted(word) + " is no number");
  }
  return number;
}

std::vector<Option> parse_options(std::string_view text) {
  if (text.size() < 2 || text.front() != '<' || text.back() != '>') {
    throw NotationError(quoted(text) + " should be <OPTION, OPTION>");
  }
  text = trimmed(text.substr(1, text.size() - 2));
  std::vector<Option> options;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    options.push_back(parse_option(trimmed(text.substr(0, comma))));
    text.remove_prefix(std::min(comma + 1, text.size()));
    text = trimmed(text);
  }
  return options;
}

SegmentText parse_segment(const std::vector<std::string>& words) {
  if (words.size() < 2) throw NotationError("a segment is FLAGS BEGIN:END and more");
  SegmentText segment;
  parse_flags(words[0], segment);
  if (words[1] != "*") {
    const auto [begin, end] = parse_range(words[1]);
    if (end < begin) throw NotationError("'" + words[1] + "' ends before it begins");
    segment.begin = begin;
    segment.size = end - begin;
  }
  Fields(words, segment).parse();
  if (segment.ack && !segment.has(Flags::kAck)) throw NotationError("'ack' without the flag '.'");
  return segment;
}

std::string describe(const Segment& segment, const Origin& origin) {
  std::string text;
  for (const FlagLetter& flag : kFlagLetters) {
    if (segment.has(flag.flag)) text += flag.letter;
  }
  if (text.empty()) text += '-';
  const std::uint32_t begin = segment.sequence - origin.sequence;
  append_range(text, begin, begin + static_cast<std::uint32_t>(segment.payload.size()));
  if (segment.has(Flags::kAck)) {
    append_number(text, " ack ",
                  static_cast<std::int32_t>(segment.acknowledgment - origin.acknowledgment));
  }
  append_number(text, " win ", segment.window);
  if (segment.urgent != 0) append_number(text, " urg ", segment.urgent);
  for (const EcnWord& entry : kEcnWords) {
    if (segment.ecn == Ecn::kNotEct || segment.ecn != entry.value) continue;
    text += ' ';
    text += entry.word;
  }
  const char* separator = " <";
  for (const Option& option : segment.options) {
    text += separator;
    append_option(text, option, origin);
    separator = ", ";
  }
  if (!segment.options.empty()) text += '>';
  return text;
}

}  // namespace satrelay::conformance
