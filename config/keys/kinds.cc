#include "config/keys/kinds.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

#include "config/text/format.h"

namespace satrelay::config {
namespace {

template <typename T>
std::string range_of(const Bounds<T>& bounds) {
  return to_text(bounds.least) + " to " + to_text(bounds.most);
}

template <typename T>
std::function<std::string(const T&)> shown(std::string zero) {
  return [zero = std::move(zero)](const T& value) {
    return value == T() && !zero.empty() ? zero : to_text(value);
  };
}

}  // namespace

Kind<BitRate> rate(Bounds<BitRate> bounds, std::string zero) {
  return {.read = [bounds](const Value& value) { return value.rate(bounds); },
          .show = shown<BitRate>(std::move(zero)),
          .allowed = range_of(bounds),
          .unit = "rate"};
}

Kind<Duration> duration(Bounds<Duration> bounds) {
  return {.read = [bounds](const Value& value) { return value.duration(bounds); },
          .show = shown<Duration>(""),
          .allowed = range_of(bounds),
          .unit = "time"};
}

Kind<ByteCount> size(Bounds<ByteCount> bounds, std::string zero) {
  return {.read = [bounds](const Value& value) { return value.size(bounds); },
          .show =
              [zero = std::move(zero)](const ByteCount& value) {
                return value == ByteCount(0) && !zero.empty() ? zero : to_text(value);
              },
          .allowed = range_of(bounds),
          .unit = "size"};
}

Kind<IpAddress> address() {
  return {.read = [](const Value& value) { return value.address(); },
          .show = [](const IpAddress& value) { return value.to_string(); },
          .allowed = "an address",
          .unit = ""};
}

std::string alternatives(const std::vector<std::string>& words, std::string_view but) {
  std::vector<std::string> others;
  std::ranges::copy_if(words, std::back_inserter(others),
                       [&](const std::string& word) { return word != but; });
  if (others.size() == 1) return "or " + others[0];
  std::string text;
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (i > 0) text += i + 1 == others.size() ? " or " : ", ";
    text += others[i];
  }
  return text;
}

Kind<bool> either(std::string yes, std::string no, bool standard) {
  return {.read =
              [yes, no](const Value& value) {
                return value.word<bool>({{yes, true}, {no, false}});
              },
          .show = [yes, no](const bool& value) { return value ? yes : no; },
          .allowed = "or " + (standard ? no : yes),
          .unit = ""};
}

std::string share_text(double share) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), share).ptr;
  return {buffer.data(), end};
}

Kind<double> share(std::string allowed) {
  return {.read = [](const Value& value) { return value.share(); },
          .show = [](const double& share) { return share_text(share); },
          .allowed = std::move(allowed),
          .unit = "share"};
}

Kind<std::string> text(const std::string& hint, const std::string& show_empty,
                       std::string allowed) {
  return {
      .read = [hint](const Value& value) { return value.text(hint); },
      .show = [show_empty](const std::string& value) { return value.empty() ? show_empty : value; },
      .allowed = std::move(allowed),
      .unit = ""};
}

}  // namespace satrelay::config
