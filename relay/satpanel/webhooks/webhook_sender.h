// Sends bodies to one URL by HTTP POST, and returns the result of each POST.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "relay/satpanel/webhooks/delivery_queue.h"

namespace satrelay::panel {

// Returns the Answer for an HTTP status. 2xx is kTaken. 5xx, 408, 425 and 429 are kFailed, since
// the trouble may pass. All other statuses, such as redirects, are kRefused, since another try
// would have the same result. `retry_after` is the value of the header Retry-After, or 0 if there
// is none.
Answer answer_of(long status, std::chrono::seconds retry_after);

// Verifies certificates, follows no redirects, and uses only HTTP and HTTPS. Only one thread may
// use a sender. A sender keeps its connection open for the next delivery.
class WebhookSender {
 public:
  static constexpr std::chrono::milliseconds kDeadline{10'000};

  // `ca_file` is a PEM file with the authorities that sign certificates. "" means the machine's
  // authorities. Throws std::runtime_error if libcurl provides no handle.
  explicit WebhookSender(const std::string& url, const std::string& ca_file = "",
                         std::chrono::milliseconds deadline = kDeadline);
  WebhookSender(const WebhookSender&) = delete;
  WebhookSender& operator=(const WebhookSender&) = delete;
  ~WebhookSender();

  // `headers` are lines such as "Name: value". Returns within the deadline, and within a second
  // after `is_over` was set.
  Answer post(const std::vector<std::string>& headers, const std::string& body,
              const std::atomic<bool>& is_over);

 private:
  struct Handle;
  std::unique_ptr<Handle> handle_;
};

}  // namespace satrelay::panel
