#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "json/guarded_text.hpp"
#include "rest_echo/json/body.hpp"
#include "rest_echo/json/body_reader.hpp"
#include "rest_echo/json/body_writer.hpp"
#include "rest_echo/json/document_rewriter.hpp"
#include "rest_echo/json/fault_locator.hpp"

namespace rest_echo::json {

/// Reads texts and writes them again in either mode, every one of them and all output before unmapped pages.
class Echo {
 public:
  /// What the server makes of `text`: what is written, or the fault as `code offset pointer`.
  std::string answer(std::string_view text, Mode mode, char padding = '\0') {
    const std::optional<std::string> written = write(text, mode, padding);
    const std::optional<Fault> fault = locate_fault(text, mode);
    if (written.has_value() == fault.has_value()) {
      return written ? "DISAGREEMENT: read, but a fault was located"
                     : "DISAGREEMENT: refused, but no fault located";
    }
    if (written) return *written;
    std::string answer(fault_code_name(fault->code));
    answer.append(" ").append(std::to_string(fault->offset));
    if (fault->code == FaultCode::type_mismatch) answer.append(" ").append(fault->pointer);
    return answer;
  }

  /// What is written for `text`, or nothing if it is refused. `padding` is what lies behind the text.
  std::optional<std::string> write(std::string_view text, Mode mode, char padding = '\0') {
    const std::string_view placed = text_.place(text, padding);
    return mode == Mode::typed ? write_typed(placed) : write_generic(placed);
  }

 private:
  std::optional<std::string> write_typed(std::string_view text) {
    if (!reader_.read(text, body_)) return std::nullopt;
    char* out = out_.take(body_text_size_max(text.size()));
    return std::string(out, write_body(body_, out));
  }
  std::optional<std::string> write_generic(std::string_view text) {
    char* out = out_.take(document_text_size_max(text.size()));
    char* end = rewriter_.rewrite(text, out);
    if (end == nullptr) return std::nullopt;
    return std::string(out, end);
  }

  GuardedText text_;
  GuardedRoom out_;
  Body body_;
  BodyReader reader_;
  DocumentRewriter rewriter_;
};

}  // namespace rest_echo::json
