#include "tests/conformance/report.h"

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace satrelay::conformance {
namespace {

const char* word(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNotPlayed:
      return "-";
    case Verdict::kPassed:
      return "pass";
    case Verdict::kFailed:
      return "FAIL";
    case Verdict::kPending:
      return "pending";
    case Verdict::kSkipped:
      return "skip";
  }
  return "?";
}

std::string remark(const Row& row) {
  std::string text;
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  if (row.endpoint.verdict == Verdict::kPending) add("pending: " + row.script->pending);
  if (row.kernel.attempts > 1) {
    add("attempt " + std::to_string(row.kernel.attempts) + " on a busy machine");
  }
  if (row.kernel.verdict == Verdict::kSkipped) add(row.kernel.message);
  for (const std::string& difference : row.script->differences) add("kernel: " + difference);
  return text;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

void write_case(std::ofstream& out, const char* side, const Script& script, const Result& result) {
  if (result.verdict == Verdict::kNotPlayed) return;
  out << "<testcase name=\"" << escaped(script.name) << "\" status=\"run\" classname=\"" << side
      << "\">";
  if (result.verdict == Verdict::kFailed) {
    out << "<failure message=\"" << escaped(result.message) << "\"/>";
  } else if (result.verdict == Verdict::kSkipped) {
    out << "<skipped message=\"" << escaped(result.message) << "\"/>";
  } else if (result.verdict == Verdict::kPending) {
    out << "<skipped message=\"pending: " << escaped(script.pending) << "\"/>";
  }
  out << "</testcase>\n";
}

void print_ladder(const Row& row, const char* side, const Result& result) {
  if (result.ladder.empty() && result.message.empty()) return;
  std::printf("\n%s, %s: %s\n", row.script->name.c_str(), side, row.script->title.c_str());
  for (const std::string& line : result.ladder) std::printf("  %s\n", line.c_str());
  if (!result.message.empty()) std::printf("%s\n", result.message.c_str());
}

std::ptrdiff_t count(const std::vector<Row>& rows, Result Row::*side, Verdict verdict) {
  return std::count_if(rows.begin(), rows.end(),
                       [=](const Row& row) { return (row.*side).verdict == verdict; });
}

void print_side(const std::vector<Row>& rows, const char* name, Result Row::*side) {
  if (count(rows, side, Verdict::kNotPlayed) == static_cast<std::ptrdiff_t>(rows.size())) return;
  std::printf("%s: %td passed, %td failed, %td pending, %td skipped\n", name,
              count(rows, side, Verdict::kPassed), count(rows, side, Verdict::kFailed),
              count(rows, side, Verdict::kPending), count(rows, side, Verdict::kSkipped));
}

}  // namespace

void print_table(const std::vector<Row>& rows) {
  std::size_t width = 6;
  for (const Row& row : rows) width = std::max(width, row.script->name.size());
  std::printf("%-*s  endpoint  kernel   differences\n", static_cast<int>(width), "script");
  for (const Row& row : rows) {
    std::printf("%-*s  %-8s  %-7s  %s\n", static_cast<int>(width), row.script->name.c_str(),
                word(row.endpoint.verdict), word(row.kernel.verdict), remark(row).c_str());
  }
}

void print_ladders(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    print_ladder(row, "endpoint", row.endpoint);
    print_ladder(row, "kernel", row.kernel);
  }
}

void print_failures(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    if (row.endpoint.verdict == Verdict::kFailed) print_ladder(row, "endpoint", row.endpoint);
    if (row.kernel.verdict == Verdict::kFailed) print_ladder(row, "kernel", row.kernel);
  }
}

void print_summary(const std::vector<Row>& rows) {
  const auto differing = std::count_if(
      rows.begin(), rows.end(), [](const Row& row) { return !row.script->differences.empty(); });
  std::printf("\n%zu scripts\n", rows.size());
  print_side(rows, "endpoint", &Row::endpoint);
  print_side(rows, "kernel", &Row::kernel);
  std::printf("%td scripts say where the kernel differs and why\n", differing);
}

bool any_failure(const std::vector<Row>& rows) {
  return count(rows, &Row::endpoint, Verdict::kFailed) > 0 ||
         count(rows, &Row::kernel, Verdict::kFailed) > 0;
}

void write_xml(const std::vector<Row>& rows, const std::string& path) {
  std::ofstream out(path);
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites><testsuite "
         "name=\"conformance\">\n";
  for (const Row& row : rows) {
    write_case(out, "endpoint", *row.script, row.endpoint);
    write_case(out, "kernel", *row.script, row.kernel);
  }
  out << "</testsuite></testsuites>\n";
}

}  // namespace satrelay::conformance
