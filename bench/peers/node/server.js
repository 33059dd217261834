'use strict';

// JSON echo on Node's own HTTP server. PORT says where it listens; with CLUSTER set, WORKERS
// processes share that port (as many as there are CPUs when WORKERS is not given).

const cluster = require('node:cluster');
const http = require('node:http');
const os = require('node:os');

const port = Number(process.env.PORT ?? 3000);
const workers = process.env.CLUSTER ? Number(process.env.WORKERS ?? os.availableParallelism()) : 0;

function send(res, status, type, text) {
  res.statusCode = status;
  res.setHeader('Content-Type', type);
  res.end(text);
}

function echo(res, text) {
  let document;
  try {
    document = JSON.parse(text);
  } catch (error) {
    send(res, 400, 'text/plain', error.message);
    return;
  }
  send(res, 200, 'application/json', JSON.stringify(document));
}

function serve() {
  const server = http.createServer((req, res) => {
    if (req.method !== 'POST') {
      send(res, 200, 'text/plain', 'Hello World');
      return;
    }
    const chunks = [];
    req.on('data', (chunk) => chunks.push(chunk));
    req.on('end', () => echo(res, Buffer.concat(chunks).toString()));
  });
  server.listen(port, '127.0.0.1');
}

if (workers > 0 && cluster.isPrimary) {
  for (let i = 0; i < workers; i++) cluster.fork();
} else {
  serve();
}
