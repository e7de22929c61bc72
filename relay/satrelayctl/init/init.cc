#include "relay/satrelayctl/init/init.h"

#include <pwd.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <optional>
#include <span>

#include "config/readers/loader.h"
#include "config/text/error.h"
#include "pep/base/secret.h"
#include "relay/satrelayctl/commands/interruption.h"
#include "relay/satrelayctl/commands/keygen.h"
#include "relay/satrelayctl/init/answers_file.h"
#include "relay/satrelayctl/init/configuration.h"
#include "relay/satrelayctl/init/dialogue.h"
#include "relay/satrelayctl/init/installation.h"
#include "relay/satrelayctl/init/measurement.h"
#include "relay/satrelayctl/init/next_steps.h"
#include "relay/satrelayctl/init/ports/port_advice.h"
#include "relay/satrelayctl/init/ports/traffic_look.h"
#include "relay/satrelayctl/views/screen.h"

namespace satrelay::ctl::init {
namespace {

constexpr int kDeclined = 1;
constexpr int kMistake = 2;
constexpr int kInterrupted = 130;

constexpr const char* kGreeting =
    "Two gateways need a file each, and a secret. satrelayctl asks for what is in them.\n"
    "? explains a question, and Enter takes the answer in brackets. Ctrl-C ends, and writes "
    "nothing.\n\n";

int status_of(StopReason reason) {
  switch (reason) {
    case StopReason::kInterrupted:
      return kInterrupted;
    case StopReason::kInputEnded:
      return kMistake;
    case StopReason::kDeclined:
      break;
  }
  return kDeclined;
}

// Makes the secret, and returns the path under which it can be read now.
std::string add_secret(Installation& installation, const Answers& answers) {
  std::string key = make_key();
  std::string path = installation.add(answers.psk_file(), key, Reader::kGateway);
  wipe(std::as_writable_bytes(std::span(key)));
  return path;
}

void add_configuration(Installation& installation, const Answers& answers, Side side,
                       const std::string& secret, Result& result) {
  const std::string file =
      side == Side::kHere ? answers.configuration_file() : answers.peer_configuration_file();
  // The secret has its final name only later. Its path does not move the lines of the file.
  const config::Gateway gateway =
      config::parse_gateway(configuration_text(answers, side, secret), file);
  for (const auto* remarks : {&gateway.remarks.warnings, &gateway.remarks.notes}) {
    result.remarks.insert(result.remarks.end(), remarks->begin(), remarks->end());
  }
  installation.add(file, configuration_text(answers, side, answers.psk_file()), Reader::kEverybody);
}

Result write_files(const Answers& answers, Existing existing) {
  Installation installation(existing);
  Result result;
  result.gateway_reads_secret = ::geteuid() == 0 && ::getpwnam(config::kGatewayUser) != nullptr;
  const std::string secret = answers.secret == SecretSource::kMake
                                 ? add_secret(installation, answers)
                                 : answers.psk_file();
  add_configuration(installation, answers, Side::kHere, secret, result);
  add_configuration(installation, answers, Side::kThere, secret, result);
  if (is_interrupted()) throw Stopped(StopReason::kInterrupted);
  installation.publish();
  result.backups = installation.backups();
  return result;
}

void look_at_ports(Machine& machine, double seconds) {
  if (seconds > 0) {
    std::cout << "Looking for " << seconds << " s at the traffic of the ports ...\n" << std::flush;
    const std::string why = look_at_traffic(
        machine, std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000)));
    if (!why.empty()) std::cout << "The traffic is not known: " << why << ".\n";
    if (is_interrupted()) throw Stopped(StopReason::kInterrupted);
  }
  std::cout << '\n' << port_table(machine, output_width());
  const PortAdvice advice = advise_ports(machine);
  if (!advice.reason.empty()) std::cout << advice.reason << '\n';
  std::cout << '\n';
}

void show_files(const Answers& answers) {
  const auto show = [&](const std::string& file, Side side) {
    std::cout << "\n--- " << file << "\n" << configuration_text(answers, side, answers.psk_file());
  };
  show(answers.configuration_file(), Side::kHere);
  show(answers.peer_configuration_file(), Side::kThere);
  std::cout << "---\n\n";
}

Answers ask(Setting& setting, const Options& options) {
  std::cout << kGreeting;
  look_at_ports(setting.machine, options.look);
  Dialogue dialogue(setting, read_terminal_line, std::cout,
                    [](const std::string& address, std::uint32_t overhead) {
                      return measure_path(address, overhead, std::cout);
                    });
  Answers answers = dialogue.ask();
  show_files(answers);
  if (!dialogue.confirm("Write these files?", true)) throw Stopped(StopReason::kDeclined);
  return answers;
}

// Refuses a wrong --folder before the first question.
void check_folder(const Setting& setting) {
  Answers answers;
  const auto cause = take_answer(questions().front(), *setting.folder, setting, answers);
  if (cause) throw config::ConfigError("--folder: " + *cause);
}

int run_to_end(const Options& options) {
  Setting setting{read_machine("/", machine::addresses_of_interfaces()),
                  options.replaces ? Existing::kReplace : Existing::kKeep, std::nullopt};
  if (!options.folder.empty()) setting.folder = options.folder;
  if (options.prints_answers) {
    std::cout << answers_template(setting) << std::flush;
    return std::cout ? 0 : 1;
  }
  if (setting.folder) check_folder(setting);
  if (options.answers.empty() && ::isatty(STDIN_FILENO) == 0) {
    throw config::ConfigError(
        "standard input is not a terminal; write the answers into a file with `satrelayctl init "
        "--print-answers`, and start `satrelayctl init --answers FILE`");
  }
  const Answers answers =
      options.answers.empty() ? ask(setting, options) : read_answers_file(options.answers, setting);
  const Result result = write_files(answers, setting.existing);
  std::cout << next_steps(answers, result) << std::flush;
  return 0;
}

}  // namespace

std::vector<CLI::Option*> add_options(CLI::App& command, Options& options) {
  CLI::Option* answers =
      command.add_option("--answers", options.answers, "Takes the answers from this YAML file")
          ->type_name("FILE");
  command.add_flag("--print-answers", options.prints_answers,
                   "Prints a file of answers with all defaults, and writes nothing");
  CLI::Option* folder =
      command
          .add_option("--folder", options.folder,
                      "The folder of the files, instead of /etc/satrelay or of the answer")
          ->type_name("DIR");
  command.add_flag("--force", options.replaces,
                   "Replaces files that exist, and keeps each as a backup");
  command
      .add_option("--look", options.look,
                  "Looks so many seconds at the traffic of the ports, before the first question")
      ->check(CLI::Range(0.0, 600.0))
      ->type_name("SECONDS")
      ->capture_default_str();
  return {answers, folder};
}

int run(const Options& options) {
  heed_interruptions();
  try {
    return run_to_end(options);
  } catch (const config::ConfigError& error) {
    std::cerr << "satrelayctl: " << error.what() << '\n';
    return kMistake;
  } catch (const Stopped& stopped) {
    std::cerr << "\nsatrelayctl: " << stopped.what() << '\n';
    return status_of(stopped.reason());
  }
}

}  // namespace satrelay::ctl::init
