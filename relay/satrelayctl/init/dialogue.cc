#include "relay/satrelayctl/init/dialogue.h"

#include <algorithm>
#include <ostream>
#include <string_view>
#include <utility>

#include "relay/satrelayctl/init/overheads.h"
#include "relay/satrelayctl/init/ports/port_advice.h"
#include "relay/text/table.h"

namespace satrelay::ctl::init {
namespace {

constexpr std::size_t kTextWidth = 80;
constexpr const char* kMeasure = "measure";

std::string indented(const std::string& text) {
  std::string lines;
  for (const std::string& line : text::fold(text, kTextWidth - 2)) lines += "  " + line + "\n";
  return lines;
}

}  // namespace

Dialogue::Dialogue(const Setting& setting, LineSource read_line, std::ostream& out, Measure measure)
    : setting_(setting),
      read_line_(std::move(read_line)),
      out_(out),
      measure_(std::move(measure)) {}

void Dialogue::show(const std::string& text) { out_ << indented(text) << std::flush; }

Answers Dialogue::ask() {
  const Question* lan = nullptr;
  for (const Question& question : questions()) {
    const bool is_given = question.key == "folder" && setting_.folder;
    if (question.place == Place::kOnlyInFiles || !applies(question, answers_, setting_)) continue;
    if (question.key == "lan") {
      lan = &question;
    } else if (question.key == "wan") {
      ask_ports(*lan, question);
    } else if (question.key == "capacity") {
      ask_capacity(question);
    } else if (is_given) {
      answers_.folder = *setting_.folder;
    } else {
      ask_question(question);
    }
  }
  return answers_;
}

void Dialogue::show_help(const Question& question) {
  show(std::string(question.help));
  if (question.key != "overhead") return;
  for (const Overhead& each : kOverheads) {
    show(std::string(each.name) + ": " + std::to_string(each.bytes) + ", " +
         std::string(each.help));
  }
  show("Or a number from 0 to 1000.");
}

// Returns what the user has typed, or the default for an empty line. "?" shows the help.
std::string Dialogue::read_answer(const Question& question, std::string_view text) {
  std::string usual = question.fallback(answers_, setting_);
  const std::string prompt = std::string(text) + (usual.empty() ? ": " : " [" + usual + "]: ");
  while (true) {
    std::string line = read_line_(prompt);
    if (line == "?") {
      show_help(question);
    } else if (!line.empty()) {
      return line;
    } else if (!usual.empty()) {
      return usual;
    } else {
      show("This question has no default. ? explains it.");
    }
  }
}

void Dialogue::ask_question(const Question& question) {
  while (const auto cause =
             take_answer(question, read_answer(question, question.text), setting_, answers_)) {
    show(*cause);
  }
}

void Dialogue::ask_ports(const Question& lan, const Question& wan) {
  do {
    answers_.takes_used_ports = false;
    ask_port(lan);
    ask_port(wan);
  } while (!keeps_ports());
}

// A port that carries the default route or an ssh session needs a yes.
void Dialogue::ask_port(const Question& question) {
  while (true) {
    const std::string text = read_answer(question, question.text);
    const Interface* const found = setting_.machine.find(text);
    if (found != nullptr && found->is_used()) {
      show(text + " carries " + found->use() +
           " of this machine. A gateway on this port cuts the machine off.");
      if (!confirm("Take it all the same?", false)) continue;
      answers_.takes_used_ports = true;
    }
    const auto cause = take_answer(question, text, setting_, answers_);
    if (!cause) return;
    show(*cause);
  }
}

// The user may have swapped the ports.
bool Dialogue::keeps_ports() {
  const PortAdvice advice = advise_ports(setting_.machine);
  const bool is_swapped = (!advice.lan.empty() && advice.lan == answers_.here.wan.interface) ||
                          (!advice.wan.empty() && advice.wan == answers_.here.lan.interface);
  if (!is_swapped) return true;
  show(advice.reason + " The ports may be swapped.");
  return confirm("Keep " + answers_.here.lan.interface + " as the LAN and " +
                     answers_.here.wan.interface + " as the WAN?",
                 false);
}

void Dialogue::ask_capacity(const Question& question) {
  while (true) {
    const std::string text =
        read_answer(question, "Rate of the link: known, find, or measure it with satperf now");
    if (text == kMeasure) {
      offer_to_measure();
      continue;
    }
    const auto cause = take_answer(question, text, setting_, answers_);
    if (!cause) return;
    show(*cause);
  }
}

void Dialogue::offer_to_measure() {
  const std::string overhead =
      find_overhead(answers_.overhead_name) != nullptr &&
              (answers_.overhead_name == "ip" || answers_.overhead_name == "ethernet")
          ? answers_.overhead_name
          : std::to_string(answers_.overhead);
  show("Start this at " + answers_.there.name +
       ", on a machine that this one reaches over the link:");
  show("  satperf server");
  show("satrelayctl then runs this here. It fills the link for 25 s in each direction:");
  show("  satperf client ADDRESS --find --overhead " + overhead);
  const std::string address =
      read_line_("ADDRESS of that machine, or nothing if you do not measure: ");
  if (address.empty()) return;
  if (const auto found = measure_(address, answers_.overhead)) answers_.measured = found;
}

bool Dialogue::confirm(const std::string& question, bool usual) {
  while (true) {
    const std::string line = read_line_(question + " yes or no [" + (usual ? "yes" : "no") + "]: ");
    if (line.empty()) return usual;
    if (line == "yes" || line == "y") return true;
    if (line == "no" || line == "n") return false;
    show("Write yes or no.");
  }
}

}  // namespace satrelay::ctl::init
