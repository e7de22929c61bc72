#include "relay/satrelayctl/doctor/report.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "relay/text/table.h"

namespace satrelay::ctl::doctor {
namespace {

// The longest line for people who have a wider terminal, or none.
constexpr std::size_t kWidestLine = 100;
constexpr std::size_t kIndent = 10;

// The groups of checks that lack a source, each as a sentence.
std::vector<std::string> left_out(const Facts& facts) {
  std::vector<std::string> sentences;
  if (!facts.gateway) {
    sentences.push_back("The checks of a running gateway: " + facts.gateway_trouble + '.');
  }
  if (facts.file.path.empty()) {
    sentences.emplace_back("The checks of the configuration: name its file with -c FILE.");
  } else if (!facts.file.config) {
    sentences.emplace_back(
        "The checks of interfaces, prefixes, cores and disks: the file is wrong.");
  }
  return sentences;
}

std::string line_of(std::string_view label, const std::string& what, std::size_t width) {
  std::string lines;
  std::string head(label);
  for (const std::string& each : text::fold(what, width - kIndent)) {
    head.resize(kIndent, ' ');
    lines += head + each + '\n';
    head.clear();
  }
  return lines;
}

std::string summary(const machine::Findings& findings) {
  if (findings.empty()) return "Nothing is wrong, as far as these checks see.\n";
  const auto count = [&](ops::Severity severity) {
    return std::ranges::count(findings, severity, &machine::Finding::severity);
  };
  return "errors " + std::to_string(count(ops::Severity::kError)) + ", warnings " +
         std::to_string(count(ops::Severity::kWarning)) + ", infos " +
         std::to_string(count(ops::Severity::kInfo)) + '\n';
}

}  // namespace

std::string findings_text(const machine::Findings& findings, const Facts& facts,
                          std::size_t width) {
  width = std::clamp(width, std::size_t{40}, kWidestLine);
  std::string text;
  for (const machine::Finding& finding : findings) {
    text += line_of(to_string(finding.severity),
                    finding.subject + ": " + finding.seen + " [" + std::string(finding.check) + ']',
                    width);
    text += line_of("  cause", finding.cause, width);
    text += line_of("  cure", finding.cure, width);
    text += line_of("  see", "docs/" + std::string(finding.page), width) + '\n';
  }
  for (const std::string& sentence : left_out(facts)) {
    text += line_of("left out", sentence, width);
  }
  return text + summary(findings);
}

std::string findings_json(const machine::Findings& findings, const Facts& facts) {
  Json list = Json::array();
  for (const machine::Finding& finding : findings) {
    list.push_back({{"check", finding.check},
                    {"severity", to_string(finding.severity)},
                    {"subject", finding.subject},
                    {"seen", finding.seen},
                    {"cause", finding.cause},
                    {"cure", finding.cure},
                    {"page", finding.page}});
  }
  const Json reply = {{"findings", list}, {"left_out", left_out(facts)}};
  return reply.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace satrelay::ctl::doctor
