# "Hello World" on httpbeast: one event loop for each worker thread.

import std/[asyncdispatch, net, os, strutils]
import httpbeast

proc onRequest(request: Request): Future[void] {.gcsafe.} =
  request.send(Http200, "Hello World", "Content-Type: text/plain")

run(onRequest, initSettings(
  port = Port(parseInt(paramStr(1))),
  bindAddr = "127.0.0.1",
  numThreads = parseInt(paramStr(2))))
