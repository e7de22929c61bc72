#include "relay/satpanel/webhooks/hook.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "config/text/text_file.h"
#include "relay/metrics/reply_fields.h"
#include "relay/ops/control/nearest_word.h"
#include "relay/ops/events/event.h"

namespace satrelay::panel {
namespace {

constexpr std::size_t kLongestFile = 64 * 1024;
// The shortest allowed secret, in characters. An attacker that has seen a delivery could find a
// shorter secret by trying all possibilities.
constexpr std::size_t kShortestSecret = 16;
constexpr std::size_t kLongestSecret = 1024;

// A position in the file of hooks, for messages.
struct Place {
  const std::filesystem::path& file;
  const YAML::Node& node;
};

[[noreturn]] void fail(const Place& at, const std::string& what) {
  throw std::runtime_error(
      fmt::format("{}:{}: {}", at.file.string(), at.node.Mark().line + 1, what));
}

std::string scalar(const Place& at, const std::string& key) {
  if (!at.node.IsScalar()) fail(at, key + ": write one value");
  return at.node.as<std::string>();
}

std::string part_of(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, 0) != CURLUE_OK) return "";
  const std::unique_ptr<char, decltype(&curl_free)> owned(text, &curl_free);
  return text;
}

// Checks the URL and returns its host, which becomes the name of a hook without a name.
std::string check_url(const Place& at, const std::string& text) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url(curl_url(), &curl_url_cleanup);
  if (url == nullptr || curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) {
    fail(at, "url: write one like https://alarms.example/satrelay");
  }
  const std::string scheme = part_of(url.get(), CURLUPART_SCHEME);
  if (scheme != "https" && scheme != "http") fail(at, "url: write https or http, not " + scheme);
  if (!part_of(url.get(), CURLUPART_USER).empty()) {
    fail(at, "url: remove the user; the signature authenticates the events");
  }
  return part_of(url.get(), CURLUPART_HOST);
}

std::string read_secret(const Place& at, const std::string& name) {
  // A relative path is relative to the folder that contains the file of hooks.
  const std::filesystem::path path = at.file.parent_path() / name;
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    fail(at, "secret_file: " + path.string() + " cannot be read");
  }
  if ((status.st_mode & 07U) != 0) {
    fail(at, "secret_file: others may read " + path.string() + "; set its mode to 0600 or 0640");
  }
  std::string secret;
  try {
    secret = config::read_text_file(path, kLongestSecret);
  } catch (const std::runtime_error& error) {
    fail(at, fmt::format("secret_file: {}", error.what()));
  }
  while (secret.ends_with('\n') || secret.ends_with('\r')) secret.pop_back();
  if (secret.size() < kShortestSecret) {
    fail(at, fmt::format("secret_file: {} has less than {} characters; `openssl rand -hex 32` "
                         "makes a secret",
                         path.string(), kShortestSecret));
  }
  return secret;
}

std::optional<ops::Severity> parse_severity(std::string_view word) {
  const auto& words = ops::kSeverityWords;
  const auto found = std::ranges::find(words, word);
  if (found == words.end()) return std::nullopt;
  return static_cast<ops::Severity>(found - words.begin());
}

void check_event(const Place& at, const std::string& name) {
  std::array<std::string_view, ops::kEventKinds> names;
  for (std::size_t i = 0; i < names.size(); ++i) {
    names[i] = ops::describe(static_cast<ops::EventKind>(i)).name;
  }
  if (std::ranges::find(names, name) != names.end()) return;
  const auto near = ops::nearest_word(name, names);
  fail(at, "events: there is no " + name + (near ? "; " + std::string(*near) + " is meant?" : ""));
}

std::vector<std::string> read_events(const Place& at) {
  if (!at.node.IsSequence()) fail(at, "events: write a list of names, like [peer_lost]");
  std::vector<std::string> events;
  for (const YAML::Node& each : at.node) {
    events.push_back(scalar({at.file, each}, "events"));
    check_event({at.file, each}, events.back());
  }
  return events;
}

Hook read_hook(const Place& at) {
  if (!at.node.IsMap()) fail(at, "a hook is url, secret_file, and perhaps name, severity, events");
  Hook hook;
  std::string host;
  for (const auto& entry : at.node) {
    const auto key = scalar({at.file, entry.first}, "a key");
    const Place value{at.file, entry.second};
    if (key == "name") {
      hook.name = scalar(value, key);
    } else if (key == "url") {
      hook.url = scalar(value, key);
      host = check_url(value, hook.url);
    } else if (key == "secret_file") {
      hook.secret = read_secret(value, scalar(value, key));
    } else if (key == "ca_file") {
      const std::filesystem::path path = at.file.parent_path() / scalar(value, key);
      hook.ca_file = path.string();
      if (::access(path.c_str(), R_OK) != 0)
        fail(value, "ca_file: " + hook.ca_file + " cannot be read");
    } else if (key == "severity") {
      const auto severity = parse_severity(scalar(value, key));
      if (!severity) fail(value, "severity: write info, warning or error");
      hook.severity = *severity;
    } else if (key == "events") {
      hook.events = read_events(value);
    } else {
      fail({at.file, entry.first},
           "unknown key " + key + "; write name, url, ca_file, secret_file, severity or events");
    }
  }
  if (hook.url.empty()) fail(at, "a hook without a url");
  if (hook.secret.empty()) fail(at, "a hook without a secret_file");
  if (hook.name.empty()) hook.name = host;
  return hook;
}

YAML::Node load(const std::filesystem::path& file) {
  try {
    return YAML::Load(config::read_text_file(file, kLongestFile));
  } catch (const YAML::Exception& error) {
    throw std::runtime_error(
        fmt::format("{}:{}: {}", file.string(), error.mark.line + 1, error.msg));
  }
}

}  // namespace

std::vector<Hook> load_hooks(const std::filesystem::path& file) {
  const YAML::Node root = load(file);
  const Place all{file, root};
  if (!root.IsSequence() || root.size() == 0) {
    fail(all, "write a list of hooks: - {url: ..., secret_file: ...}");
  }
  if (root.size() > kMostHooks) fail(all, fmt::format("there may be {} hooks", kMostHooks));
  std::vector<Hook> hooks;
  for (const YAML::Node& node : root) {
    Hook hook = read_hook({file, node});
    if (std::ranges::find(hooks, hook.name, &Hook::name) != hooks.end()) {
      fail({file, node}, "there is a hook " + hook.name + " already; give each a name");
    }
    hooks.push_back(std::move(hook));
  }
  return hooks;
}

bool wants(const Hook& hook, const nlohmann::ordered_json& event) {
  // Also send events of an unknown severity: they may come from a later version of the gateway.
  const auto severity = parse_severity(metrics::word(event, "severity").value_or(""));
  if (severity && *severity > hook.severity) return false;
  const auto name = metrics::word(event, "name").value_or("");
  return hook.events.empty() || std::ranges::find(hook.events, name) != hook.events.end();
}

}  // namespace satrelay::panel
