// JSON echo on Drogon, whose JSON is jsoncpp's.

#include <drogon/drogon.h>

#include <cstdlib>
#include <functional>

using drogon::HttpRequestPtr;
using drogon::HttpResponse;
using drogon::HttpResponsePtr;
using Callback = std::function<void(const HttpResponsePtr&)>;

void answer(const HttpRequestPtr& request, Callback&& respond) {
  auto response = HttpResponse::newHttpResponse();
  response->setContentTypeCode(drogon::CT_TEXT_PLAIN);
  if (request->method() != drogon::Post) {
    response->setBody("Hello World");
  } else if (const auto document = request->getJsonObject()) {
    response = HttpResponse::newHttpJsonResponse(*document);
  } else {
    response->setStatusCode(drogon::k400BadRequest);
    response->setBody(request->getJsonError());
  }
  respond(response);
}

int main(int argc, char** argv) {
  const int port = argc > 1 ? std::atoi(argv[1]) : 3000;
  const int workers = argc > 2 ? std::atoi(argv[2]) : 1;
  drogon::app()
      .setLogLevel(trantor::Logger::kFatal)
      .setThreadNum(workers)
      .addListener("127.0.0.1", port)
      .registerHandlerViaRegex("/.*", &answer, {drogon::Get, drogon::Post})
      .run();
}
