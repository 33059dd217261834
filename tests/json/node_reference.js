// The generic echo in JavaScript, for differential_test.py. Input: documents, each behind its size (4 octets, little
// endian). Output, sized likewise: the document written again, or `refused`.
'use strict';

const fs = require('fs');

function answer(text) {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return 'refused';
  }
}

const input = fs.readFileSync(0);
const replies = [];
for (let at = 0; at < input.length;) {
  const start = at + 4;
  at = start + input.readUInt32LE(at);
  const reply = Buffer.from(answer(input.toString('utf8', start, at)));
  const size = Buffer.alloc(4);
  size.writeUInt32LE(reply.length);
  replies.push(size, reply);
}
process.stdout.write(Buffer.concat(replies));
