#include "tests/conformance/parser.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "tests/conformance/segment_text.h"

namespace satrelay::conformance {
namespace {

struct VerbWord {
  const char* word;
  Verb verb;
  enum class Argument : std::uint8_t { kNone, kCount, kWord } argument;
};
constexpr VerbWord kVerbs[] = {
    {"listen", Verb::kListen, VerbWord::Argument::kNone},
    {"write", Verb::kWrite, VerbWord::Argument::kCount},
    {"write-urgent", Verb::kWriteUrgent, VerbWord::Argument::kCount},
    {"at-mark", Verb::kAtMark, VerbWord::Argument::kNone},
    {"no-mark", Verb::kNoMark, VerbWord::Argument::kNone},
    {"read", Verb::kRead, VerbWord::Argument::kCount},
    {"read-end", Verb::kReadEnd, VerbWord::Argument::kNone},
    {"readable", Verb::kReadable, VerbWord::Argument::kCount},
    {"shutdown", Verb::kShutdown, VerbWord::Argument::kNone},
    {"abort", Verb::kAbort, VerbWord::Argument::kNone},
    {"state", Verb::kState, VerbWord::Argument::kWord},
    {"error", Verb::kError, VerbWord::Argument::kWord},
    {"nothing", Verb::kNothing, VerbWord::Argument::kNone},
    {"new-incarnation", Verb::kNewIncarnation, VerbWord::Argument::kCount},
};
constexpr const char* kStates[] = {"CLOSED",     "SYN-SENT",   "SYN-RECEIVED", "ESTABLISHED",
                                   "FIN-WAIT-1", "FIN-WAIT-2", "CLOSE-WAIT",   "CLOSING",
                                   "LAST-ACK",   "TIME-WAIT"};
constexpr const char* kErrors[] = {"none", "reset", "refused", "timeout", "unreachable", "aborted"};

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool is_time(std::string_view word) {
  const std::size_t sign = word.front() == '+' || word.front() == '-' ? 1 : 0;
  return word.size() > sign && word[sign] >= '0' && word[sign] <= '9' &&
         word.find(':') == std::string_view::npos;
}

When parse_when(std::string_view word) {
  When when;
  when.relative = word.front() == '+';
  if (when.relative) word.remove_prefix(1);
  const auto dots = word.find("..");
  when.earliest = Duration::milliseconds(parse_number(word.substr(0, dots)));
  when.latest = dots == std::string_view::npos
                    ? when.earliest
                    : Duration::milliseconds(parse_number(word.substr(dots + 2)));
  if (when.latest < when.earliest) throw NotationError("a time that ends before it begins");
  return when;
}

template <std::size_t N>
void require_one_of(const std::string& word, const char* const (&known)[N]) {
  if (std::find(std::begin(known), std::end(known), word) == std::end(known)) {
    throw NotationError("'" + word + "' is not known here");
  }
}

// "icmp too-big 1400 quoting 1"; "icmp unreachable 3 quoting 0"
Act parse_icmp(const std::vector<std::string>& words) {
  const bool known = words.size() == 5 && (words[1] == "too-big" || words[1] == "unreachable");
  if (!known || words[3] != "quoting") {
    throw NotationError("should be: icmp too-big MTU|unreachable CODE quoting SEQUENCE");
  }
  Act act;
  act.verb = words[1] == "too-big" ? Verb::kTooBig : Verb::kUnreachable;
  act.count = parse_number(words[2]);
  act.begin = parse_number(words[4]);
  return act;
}

// "connect ecn <mss 1460>"; both may be absent.
Act parse_connect(const std::vector<std::string>& words) {
  Act act;
  act.verb = Verb::kConnect;
  std::size_t at = 1;
  if (at < words.size() && words[at] == "ecn") act.word = words[at++];
  act.options = parse_options(at < words.size() ? std::string_view(words[at++])
                                                : "<mss 1460, sackOK, TS 0:0, wscale 7>");
  if (at != words.size()) throw NotationError("should be: connect [ecn] [<OPTIONS>]");
  return act;
}

Act parse_act(const std::vector<std::string>& words) {
  if (words.empty()) throw NotationError("nothing happens here");
  if (words[0] == "icmp") return parse_icmp(words);
  if (words[0] == "connect") return parse_connect(words);
  const auto* const it =
      std::find_if(std::begin(kVerbs), std::end(kVerbs),
                   [&words](const VerbWord& entry) { return words[0] == entry.word; });
  if (it == std::end(kVerbs)) throw NotationError("'" + words[0] + "' is no action");
  const bool argument = it->argument != VerbWord::Argument::kNone;
  if (words.size() != (argument ? 2U : 1U)) {
    throw NotationError(std::string("'") + it->word + "' takes " +
                        (argument ? "one word" : "no more words"));
  }
  Act act;
  act.verb = it->verb;
  if (it->argument == VerbWord::Argument::kCount) act.count = parse_number(words[1]);
  if (it->argument == VerbWord::Argument::kWord) act.word = words[1];
  if (act.verb == Verb::kState) require_one_of(act.word, kStates);
  if (act.verb == Verb::kError) require_one_of(act.word, kErrors);
  return act;
}

Step parse_step(std::string_view text) {
  Step step;
  std::vector<std::string> words = split_words(text);
  if (!words.empty() && is_time(words[0])) {
    step.when = parse_when(words[0]);
    words.erase(words.begin());
  }
  for (const std::string& word : words) step.text += (step.text.empty() ? "" : " ") + word;
  if (!words.empty() && words.back() == "-->") {
    words.pop_back();
    step.what = Send{parse_segment(words)};
  } else if (!words.empty() && words.front() == "<--") {
    words.erase(words.begin());
    step.what = Expect{parse_segment(words)};
  } else {
    step.what = parse_act(words);
  }
  return step;
}

class Parser {
 public:
  Parser(const std::string& name, const std::string& file) {
    script_.name = name;
    script_.file = file;
  }

  Script parse(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      const std::size_t end = std::min(text.find('\n'), text.size());
      try {
        parse_line(text.substr(0, end));
      } catch (const NotationError& error) {
        fail(error.what());
      }
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (script_.title.empty()) fail("the script has no 'title:'");
    if (script_.rfc.empty()) fail("the script has no 'rfc:'");
    if (script_.steps.empty()) fail("the script has no steps");
    require_lines_for_difference();
    return std::move(script_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw ScriptError({script_.file, line_}, what);
  }

  void parse_line(std::string_view line) {
    line = trimmed(line.substr(0, line.find('#')));
    if (line.empty()) return;
    if (take_key(line, "kernel differs:")) {
      if (line.empty()) fail("say in what the kernel differs, and why");
      script_.differences.emplace_back(line);
      difference_open_ = true;
      return;
    }
    if (parse_header(line)) {
      if (!script_.steps.empty()) fail("settings come before the first step");
      return;
    }
    if (take_key(line, "begin:")) return expand_beginning(line);
    add_step(line);
  }

  void require_lines_for_difference() const {
    if (difference_open_) fail("'kernel differs:' is followed by no line for one side");
  }

  static bool take_key(std::string_view& line, std::string_view key) {
    if (!starts_with(line, key)) return false;
    line = trimmed(line.substr(key.size()));
    return true;
  }

  bool parse_header(std::string_view line) {
    if (take_key(line, "title:")) {
      script_.title = line;
    } else if (take_key(line, "rfc:")) {
      script_.rfc = line;
    } else if (take_key(line, "pending:")) {
      if (line.empty()) fail("say why the script is pending");
      script_.pending = line;
    } else if (take_key(line, "kernel skip:")) {
      if (line.empty()) fail("say why the kernel is left out");
      script_.kernel_skip = line;
    } else if (take_key(line, "kernel set:")) {
      const auto equals = line.find('=');
      if (equals == std::string_view::npos) fail("should be 'kernel set: NAME=VALUE'");
      script_.sysctls[std::string(trimmed(line.substr(0, equals)))] =
          trimmed(line.substr(equals + 1));
    } else if (take_key(line, "set:")) {
      parse_setting(split_words(line));
    } else {
      return false;
    }
    return true;
  }

  void parse_setting(const std::vector<std::string>& words) {
    Settings& settings = script_.settings;
    if (words.size() == 2 && words[0] == "nagle" && words[1] == "on") {
      settings.nagle = true;
      return;
    }
    if (words.size() != 2) fail("should be 'set: NAME NUMBER'");
    const std::int64_t number = parse_number(words[1]);
    if (number < 0 || number > std::int64_t{std::numeric_limits<std::uint32_t>::max()}) {
      fail(words[1] + " is out of range");
    }
    const auto value = static_cast<std::uint32_t>(number);
    if (words[0] == "mss") {
      settings.mss = static_cast<std::uint16_t>(value);
    } else if (words[0] == "window") {
      settings.window = value;
    } else if (words[0] == "send-buffer") {
      settings.send_buffer = value;
    } else if (words[0] == "scale") {
      settings.scale = static_cast<std::uint8_t>(value);
    } else if (words[0] == "isn") {
      settings.isn = value;
    } else if (words[0] == "peer-isn") {
      settings.peer_isn = value;
    } else {
      fail("there is no setting '" + words[0] + "'");
    }
  }

  // A connection that is established at 0, with a round trip of 10 ms.
  void expand_beginning(std::string_view line) {
    if (!script_.steps.empty()) fail("'begin:' is the first step");
    const std::vector<std::string> words = split_words(line);
    std::string window = "65535";
    std::string options = "<mss 1460, sackOK>";
    std::size_t at = 1;
    if (at + 1 < words.size() && words[at] == "win") {
      window = words[at + 1];
      at += 2;
    }
    if (at < words.size() && words[at].front() == '<') options = words[at++];
    if (at != words.size()) fail("should be 'begin: server|client [win N] [<OPTIONS>]'");
    std::vector<std::string> lines;
    if (words[0] == "server") {
      lines = {"-10 listen", "-10 S 0:0 win 65535 " + options + " -->", "-10 <-- S. 0:0 ack 1",
               "0 . 1:1 ack 1 win " + window + " -->"};
    } else if (words[0] == "client") {
      lines = {"-10 connect " + options, "-10 <-- S 0:0",
               "0 S. 0:0 ack 1 win " + window + " " + options + " -->", "0 <-- . 1:1 ack 1"};
    } else {
      fail("should be 'begin: server' or 'begin: client'");
    }
    for (const std::string& one : lines) add_step(one);
  }

  void add_step(std::string_view line) {
    For for_whom = For::kBoth;
    if (take_key(line, "ours ")) {
      for_whom = For::kEndpoint;
    } else if (take_key(line, "kernel ")) {
      for_whom = For::kKernel;
    }
    if (for_whom != For::kBoth && script_.differences.empty()) {
      fail("a line for one side only needs 'kernel differs: REASON' before it");
    }
    if (for_whom == For::kBoth) {
      require_lines_for_difference();
    } else {
      difference_open_ = false;
    }
    Step step = parse_step(line);
    step.line = line_;
    step.for_whom = for_whom;
    script_.steps.push_back(std::move(step));
  }

  Script script_;
  int line_ = 0;
  bool difference_open_ = false;  // A difference is stated, and no line for one side follows yet.
};

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw std::runtime_error(path.string() + ": cannot be read");
  return text.str();
}

}  // namespace

Script parse_script(const std::string& name, const std::string& file, std::string_view text) {
  return Parser(name, file).parse(text);
}

std::vector<Script> load_scripts(const std::string& folder, const std::string& filter) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".tcp") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Script> scripts;
  for (const std::filesystem::path& path : paths) {
    const std::string name =
        std::filesystem::relative(path, folder).replace_extension("").generic_string();
    if (name.find(filter) == std::string::npos) continue;
    scripts.push_back(parse_script(name, path.string(), read_file(path)));
  }
  return scripts;
}

}  // namespace satrelay::conformance
