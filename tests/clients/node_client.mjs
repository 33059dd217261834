// Node's own clients against the server: agents that keep connections alive, fetch, streams, Expect, pipes.
//   node node_client.mjs PROGRAM
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';

const patience = setTimeout(() => {
  console.error('FAILED: it takes too long');
  process.exit(1);
}, 100_000);
patience.unref();

async function startServer(program) {
  const { PORT, CLUSTER, ...env } = process.env;
  const child = spawn(program, ['--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'], env });
  process.once('exit', () => child.kill('SIGKILL'));
  for await (const line of createInterface({ input: child.stdout })) {
    const port = line.match(/^Listening on port (\d+)$/)?.[1];
    if (port) return { child, port: Number(port) };
  }
  throw new Error('the server does not listen');
}

/** One request with node:http: its status, fields and content. */
function ask(port, { content, agent, headers = {}, method = content === undefined ? 'GET' : 'POST', path = '/' }) {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', port, method, path, agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece) => (text += piece));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text, request }));
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(content);
  });
}

const numbered = (number) => ({ color: `c${number}`, category: 'hue', code: { rgba: [number, -number, 0, 1], hex: '#123' } });
const documentOf = (count, first = 0) => ({ colors: Array.from({ length: count }, (_, index) => numbered(first + index)) });

const { child, port } = await startServer(process.argv[2]);
const base = `http://127.0.0.1:${port}`;

const checks = {
  async 'one connection is used again and again'() {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const sockets = new Set();
    for (let round = 0; round < 50; ++round) {
      const content = JSON.stringify(documentOf(5, round));
      const { status, headers, text, request } = await ask(port, { content, agent });
      assert.equal(status, 200);
      assert.equal(headers['content-type'], 'application/json');
      assert.equal(text, content);
      sockets.add(request.socket.localPort);
    }
    assert.equal(sockets.size, 1);
    agent.destroy();
  },

  async 'an error keeps the connection too'() {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const bad = await ask(port, { content: '{"colors":[}', agent });
    assert.equal(bad.status, 400);
    assert.equal(JSON.parse(bad.text).code, 'invalid_json');
    const good = await ask(port, { content: '{}', agent });
    assert.equal(good.status, 200);
    assert.equal(good.request.reusedSocket, true);
    agent.destroy();
  },

  async 'many requests at once are told apart'() {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 32 });
    const contents = Array.from({ length: 400 }, (_, number) => JSON.stringify(documentOf(1 + (number % 40), number)));
    const answers = await Promise.all(contents.map((content) => ask(port, { content, agent })));
    answers.forEach(({ status, text }, number) => {
      assert.equal(status, 200);
      assert.equal(text, contents[number]);
    });
    agent.destroy();
  },

  async 'content of unknown length goes in chunks'() {
    const content = JSON.stringify(documentOf(2_000));
    const pieces = Readable.from(content.match(/.{1,1000}/gs));
    const response = await fetch(base, { method: 'POST', body: Readable.toWeb(pieces).pipeThrough(new TextEncoderStream()), duplex: 'half' });
    assert.equal(response.status, 200);
    assert.equal(await response.text(), content);
  },

  async 'written piece by piece'() {
    const content = JSON.stringify(documentOf(20));
    const answer = await new Promise((resolve, reject) => {
      const request = http.request(base, { method: 'PUT' }, async (response) => {
        let text = '';
        for await (const piece of response) text += piece;
        resolve({ status: response.statusCode, text });
      });
      request.on('error', reject);
      (async () => {
        for (const piece of content.match(/.{1,97}/gs)) {
          request.write(piece);
          await new Promise((next) => setTimeout(next, 2));
        }
        request.end();
      })();
    });
    assert.deepEqual(answer, { status: 200, text: content });
  },

  async 'Expect: 100-continue is answered before the content is sent'() {
    const content = JSON.stringify(documentOf(100));
    const request = http.request(base, { method: 'POST', headers: { Expect: '100-continue', 'Content-Length': content.length } });
    request.flushHeaders();
    await once(request, 'continue');
    request.end(content);
    const [response] = await once(request, 'response');
    let text = '';
    for await (const piece of response) text += piece;
    assert.equal(text, content);
  },

  async 'text in other scripts survives'() {
    const content = JSON.stringify({ colors: [{ color: 'rosé 玫瑰 🎨\u0000\u2028"\\', code: {} }] });
    const { text } = await ask(port, { content });
    assert.equal(text, content);
  },

  async 'what is too large is told so, while it is still being sent'() {
    const response = await fetch(base, { method: 'POST', body: 'x'.repeat(3_000_000) });
    assert.equal(response.status, 413);
    assert.equal((await response.json()).status, 413);
  },

  async 'other methods'() {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    assert.equal((await ask(port, { agent })).text, 'Hello World');
    const head = await ask(port, { agent, method: 'HEAD' });
    assert.deepEqual([head.status, head.headers['content-length'], head.text], [200, '11', '']);
    const options = await ask(port, { agent, method: 'OPTIONS' });
    assert.equal(options.status, 204);
    assert.match(options.headers.allow, /POST/);
    const headers = { 'Content-Length': 2 }; // which Node leaves out by itself for DELETE
    assert.equal((await ask(port, { agent, method: 'DELETE', content: '{}', headers })).text, '{"colors":null}');
    assert.equal((await ask(port, { agent, path: '/healthz' })).text, '{"status":"ok"}');
    assert.equal((await ask(port, { agent, method: 'TRACE' })).status, 405);
    agent.destroy();
  },

  async 'an aborted request harms nobody'() {
    for (let round = 0; round < 20; ++round) {
      const request = http.request(base, { method: 'POST', headers: { 'Content-Length': 100_000 } });
      request.on('error', () => {});
      request.write('{"colors":[');
      await once(request, 'socket');
      request.destroy();
    }
    assert.equal((await ask(port, {})).text, 'Hello World');
  },

  async 'it ends when told to, though a connection is kept'() {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    assert.equal((await ask(port, { agent })).status, 200);
    child.kill('SIGTERM');
    const [status] = await once(child, 'exit');
    assert.equal(status, 0);
    agent.destroy();
  },
};

for (const [name, check] of Object.entries(checks)) {
  try {
    await check();
    console.log(`ok      ${name}`);
  } catch (error) {
    console.log(`FAILED  ${name}`);
    console.error(error);
    process.exit(1);
  }
}
process.exit(0);
