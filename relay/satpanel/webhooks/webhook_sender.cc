#include "relay/satpanel/webhooks/webhook_sender.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "relay/version/version.h"

namespace satrelay::panel {
namespace {

// Ignores the body of the receiver's answer: only the status matters.
std::size_t ignore(char* /*bytes*/, std::size_t size, std::size_t count, void* /*nobody*/) {
  return size * count;
}

int tell_whether_over(void* flag, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const std::atomic<bool>*>(flag)->load() ? 1 : 0;
}

using Headers = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

Headers make_headers(const std::vector<std::string>& headers) {
  Headers list(nullptr, &curl_slist_free_all);
  for (const std::string& header : headers) {
    curl_slist* longer = curl_slist_append(list.get(), header.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    static_cast<void>(list.release());
    list.reset(longer);
  }
  return list;
}

}  // namespace

Answer answer_of(long status, std::chrono::seconds retry_after) {
  using enum Answer::Kind;
  if (status >= 200 && status < 300) return {.kind = kTaken};
  const bool may_pass = status >= 500 || status == 408 || status == 425 || status == 429;
  Answer answer{.kind = may_pass ? kFailed : kRefused, .reason = fmt::format("HTTP {}", status)};
  if (may_pass && retry_after.count() > 0) answer.retry_after = retry_after;
  return answer;
}

struct WebhookSender::Handle {
  CURL* curl = curl_easy_init();
  std::array<char, CURL_ERROR_SIZE> error{};

  ~Handle() { curl_easy_cleanup(curl); }

  template <typename Value>
  void set(CURLoption option, Value value) {
    if (const CURLcode code = curl_easy_setopt(curl, option, value); code != CURLE_OK) {
      throw std::runtime_error(fmt::format("libcurl: {}", curl_easy_strerror(code)));
    }
  }
};

WebhookSender::WebhookSender(const std::string& url, const std::string& ca_file,
                             std::chrono::milliseconds deadline)
    : handle_(std::make_unique<Handle>()) {
  if (handle_->curl == nullptr) throw std::runtime_error("libcurl gives no handle");
  handle_->set(CURLOPT_URL, url.c_str());
  handle_->set(CURLOPT_PROTOCOLS_STR, "http,https");
  handle_->set(CURLOPT_FOLLOWLOCATION, 0L);
  handle_->set(CURLOPT_SSL_VERIFYPEER, 1L);
  handle_->set(CURLOPT_SSL_VERIFYHOST, 2L);
  if (!ca_file.empty()) {
    handle_->set(CURLOPT_CAINFO, ca_file.c_str());
    handle_->set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  }
  handle_->set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  handle_->set(CURLOPT_TIMEOUT_MS, static_cast<long>(deadline.count()));
  // libcurl must not use signals, since only the main thread handles them.
  handle_->set(CURLOPT_NOSIGNAL, 1L);
  // Do not wait for a name that is still being resolved when the program exits.
  handle_->set(CURLOPT_QUICK_EXIT, 1L);
  const std::string agent = "satpanel/" + std::string(version());
  handle_->set(CURLOPT_USERAGENT, agent.c_str());
  handle_->set(CURLOPT_ERRORBUFFER, handle_->error.data());
  handle_->set(CURLOPT_WRITEFUNCTION, &ignore);
  handle_->set(CURLOPT_XFERINFOFUNCTION, &tell_whether_over);
  handle_->set(CURLOPT_NOPROGRESS, 0L);
}

WebhookSender::~WebhookSender() = default;

Answer WebhookSender::post(const std::vector<std::string>& headers, const std::string& body,
                           const std::atomic<bool>& is_over) {
  const Headers list = make_headers(headers);
  handle_->set(CURLOPT_HTTPHEADER, list.get());
  handle_->set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  handle_->set(CURLOPT_POSTFIELDS, body.c_str());
  handle_->set(CURLOPT_XFERINFODATA, &is_over);
  handle_->error.front() = '\0';
  const CURLcode code = curl_easy_perform(handle_->curl);
  if (code != CURLE_OK) {
    const char* error = handle_->error.data();
    return {.reason = *error != '\0' ? error : curl_easy_strerror(code)};
  }
  long status = 0;
  curl_off_t retry_after = 0;
  curl_easy_getinfo(handle_->curl, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(handle_->curl, CURLINFO_RETRY_AFTER, &retry_after);
  return answer_of(status, std::chrono::seconds(retry_after));
}

}  // namespace satrelay::panel
