// "Hello World" on Dart's own HTTP server: one isolate for each worker, all on one port.

import 'dart:io';
import 'dart:isolate';

Future<void> serve(int port) async {
  final server = await HttpServer.bind(InternetAddress.loopbackIPv4, port, shared: true);
  server.listen((request) {
    request.response
      ..headers.contentType = ContentType.text
      ..contentLength = 11
      ..write('Hello World')
      ..close();
  });
}

Future<void> main(List<String> arguments) async {
  final port = int.parse(arguments[0]);
  final workers = int.parse(arguments[1]);
  for (var i = 1; i < workers; i++) {
    await Isolate.spawn(serve, port);
  }
  await serve(port);
}
