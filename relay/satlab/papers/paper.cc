#include "relay/satlab/papers/paper.h"

#include <stdexcept>

namespace satrelay::satlab {
namespace {

struct Entry {
  const char* name;
  Paper (*make)(Length);
};

constexpr Entry kPapers[] = {
    {"hpfp", hpfp_paper},
    {"marchese", [](Length) { return marchese_paper(); }},
    {"tps", [](Length) { return tps_paper(); }},
    {"accelerator", [](Length) { return accelerator_paper(); }},
    {"winds", [](Length) { return winds_paper(); }},
    {"channel", [](Length) { return channel_paper(); }},
};

}  // namespace

std::vector<std::string> paper_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kPapers) names.emplace_back(entry.name);
  return names;
}

Paper paper(std::string_view name, Length length) {
  for (const Entry& entry : kPapers) {
    if (name == entry.name) return entry.make(length);
  }
  throw std::invalid_argument("there is no paper \"" + std::string(name) + "\"");
}

}  // namespace satrelay::satlab
