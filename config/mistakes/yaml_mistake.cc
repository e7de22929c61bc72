#include "config/mistakes/yaml_mistake.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "config/model/names.h"
#include "config/text/format.h"

namespace satrelay::config {
namespace {

struct Cure {
  std::string_view error;  // begins with this
  std::string_view cure;
};
constexpr Cure kCures[] = {
    {"end of sequence flow", "put a comma between two items, and ] behind the last one"},
    {"end of map flow", "put a comma between two entries, and } behind the last one"},
    {"illegal flow end", "remove this ] or }, or write the [ or { that it ends"},
    {"end of map", "indent this line as the other lines of its map"},
    {"end of sequence", "indent this line as the other lines of its item"},
    {"illegal map value", "write one \"key: value\" in a line"},
    {"the referenced anchor", "write the value itself, or &NAME before the value that *NAME means"},
    {"bad file", "nest maps and lists less deeply"},
    {"unknown escape", "write text with a backslash in single quotes"}};

// UTF-16 has octets of zero. yaml-cpp detects this encoding by the first two octets.
bool is_utf16(const std::string& text) {
  return text.size() >= 2 && ((text[0] == '\0') != (text[1] == '\0') ||
                              text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"));
}

std::string without_comment(const std::string& line) {
  const std::size_t comment = line.starts_with('#') ? 0 : line.find(" #");
  std::string text = line.substr(0, comment);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.pop_back();
  }
  return text;
}

struct Line {
  int number = 0;
  std::string text;
};

// The line of the error and, before it, the nearest line that has text.
std::vector<Line> lines_at(const std::string& text, int number) {
  std::istringstream in(text);
  Line before;
  std::string raw;
  for (int i = 1; std::getline(in, raw); ++i) {
    Line line{i, without_comment(raw)};
    if (i == number) return {before, line};
    if (!line.text.empty()) before = std::move(line);
  }
  return {before};
}

constexpr std::string_view kCommaFirst = "has a comma before the key; remove the comma";

bool begins_with_comma(const Line& line) {
  const std::size_t begin = line.text.find_first_not_of(" \t");
  return begin != std::string::npos && line.text[begin] == ',';
}

std::optional<YamlMistake> tab_in(const Line& line) {
  const std::size_t indentation = std::min(line.text.find_first_not_of(" \t"), line.text.size());
  const std::size_t tab = line.text.find('\t');
  if (tab >= indentation) return std::nullopt;
  return YamlMistake{{line.number, static_cast<int>(tab) + 1},
                     "is indented with a tab; indent with blanks"};
}

// A key that has its value without a colon, or without a blank behind the colon. The line may have
// a secret, so the message has only a word that looks like a key, and no value.
std::optional<YamlMistake> colon_missing_in(const Line& line) {
  const std::size_t begin = line.text.find_first_not_of(" -");
  if (begin == std::string::npos) return std::nullopt;
  const std::string_view text = std::string_view(line.text).substr(begin);
  const auto end = std::ranges::find_if_not(
      text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  const std::string key(text.begin(), end);
  const std::string_view rest = text.substr(key.size());
  if (key.empty() || std::isalpha(static_cast<unsigned char>(key.front())) == 0) {
    return std::nullopt;
  }
  const Place place{line.number, static_cast<int>(begin) + 1};
  const bool is_name = is_key_name(key);
  if (rest.size() > 1 && rest[0] == ':' && rest[1] != ' ') {
    return YamlMistake{place, "has no blank behind the colon; write a blank behind " +
                                  (is_name ? "`" + key + ":`" : std::string("it"))};
  }
  if (rest.empty() || (rest[0] == ' ' && rest.find(':') == std::string_view::npos)) {
    return YamlMistake{place, "has no colon; write a colon and a blank behind " +
                                  (is_name ? "`" + key + "`" : std::string("the key"))};
  }
  return std::nullopt;
}

}  // namespace

std::optional<YamlMistake> find_octet_of_zero(const std::string& text) {
  const std::size_t zero = text.find('\0');
  if (zero == std::string::npos || is_utf16(text)) return std::nullopt;
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(zero);
  const auto begin = std::find(std::make_reverse_iterator(end), text.rend(), '\n').base();
  const Place place{static_cast<int>(std::count(text.begin(), end, '\n')) + 1,
                    static_cast<int>(end - begin) + 1};
  return YamlMistake{place,
                     "has an octet of zero, so the file is damaged or no text; write it again"};
}

YamlMistake explain_second_document(const std::string& text, Place place, bool is_stuck) {
  if (is_stuck || begins_with_comma(lines_at(text, place.line).back())) {
    return YamlMistake{place, std::string(kCommaFirst)};
  }
  return YamlMistake{place, "a second document begins here; write one document a file"};
}

YamlMistake explain_yaml(const std::string& text, Place place, std::string_view error) {
  const std::string message = "is not YAML: " + printable(error);
  const auto cured =
      std::ranges::find_if(kCures, [&](const Cure& each) { return error.starts_with(each.error); });
  YamlMistake usual{
      place, cured == std::end(kCures) ? message : message + "; " + std::string(cured->cure)};
  if (is_utf16(text)) return usual;
  if (text.find('\n') == std::string::npos && text.find('\r') != std::string::npos) {
    return {place, "has lines that end with CR only; save the file with LF as the end of a line"};
  }
  const std::vector<Line> lines = lines_at(text, place.line);
  for (const Line& line : lines) {
    if (auto tab = tab_in(line)) return *std::move(tab);
  }
  if (begins_with_comma(lines.back()) && error.starts_with("end of map not found")) {
    return {place, std::string(kCommaFirst)};
  }
  // The text of a line without a colon goes on in the next line, unless a comment ends it.
  const bool went_on = error.starts_with("illegal map value");
  const bool ended = error.starts_with("end of map not found");
  for (const Line& line : lines) {
    const bool is_item = line.text.find_first_not_of(' ') == line.text.find('-');
    if (!went_on && (!ended || is_item || &line != &lines.front())) continue;
    if (auto colon = colon_missing_in(line)) return *std::move(colon);
  }
  return usual;
}

}  // namespace satrelay::config
